/* A decoded instruction: its types, operations and operands. */
#ifndef NEUTRINO_SIM_PTX_DECODED_INSTRUCTION_H
#define NEUTRINO_SIM_PTX_DECODED_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

enum { LANES = 32 };

/* bar can name 16 barriers; the cluster's barrier has a number of its own. */
enum { BARRIER_CLUSTER = 16, BARRIERS = 17 };

enum type {
    T_NONE,
    T_PRED,
    T_B8,
    T_B16,
    T_B32,
    T_B64,
    T_U8,
    T_U16,
    T_U32,
    T_U64,
    T_S8,
    T_S16,
    T_S32,
    T_S64,
    T_F16,
    T_F16X2,
    T_BF16,
    T_BF16X2,
    T_F32,
    T_F64,
    /* Packed types and element types of matrices. */
    T_TF32,
    T_E4M3,
    T_E4M3X2,
    T_E5M2,
    T_E5M2X2,
    T_U16X2,
    T_S16X2,
    T_U4,
    T_S4
};

unsigned ptx_type_bytes(enum type type); /* size in memory */
bool ptx_type_is_signed(enum type type);

static inline bool ptx_type_is_float(enum type type)
{
    return type >= T_F16 && type <= T_E5M2X2;
}

unsigned ptx_element_bits(enum type type); /* size in a matrix, which may have 4-bit elements */

enum space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_REGISTER
};

enum rounding { ROUND_NONE, ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY };

/* Operations of the engine. Types and rounding modes are fields of an instruction, not operations. */
enum operation {
    OP_MOV,
    OP_MOV_SPECIAL,
    OP_PACK,
    OP_UNPACK,
    OP_LD,
    OP_ST,
    OP_LD_PARAM,
    OP_LD_FRAME,
    OP_ST_FRAME,
    OP_ATOM,
    OP_LD_WIDE, /* OP_LD_WIDE to OP_ATOM_WIDE: 128 bits in two registers, the low half first */
    OP_ST_WIDE,
    OP_ATOM_WIDE,
    OP_TEXTURE,
    OP_TEXTURE_GATHER,
    OP_SURFACE_LOAD,
    OP_SURFACE_STORE,
    OP_SURFACE_REDUCE,
    OP_IMAGE_QUERY, /* txq, suq; of OP_IMAGE_TEST the result is a predicate */
    OP_IMAGE_TEST,
    OP_COPY_ASYNC,
    OP_COPY_BULK,
    OP_MBARRIER,
    OP_PAUSE, /* nanosleep */
    OP_ADDRESS_LOCAL,
    OP_ADDRESS_DYNAMIC,
    OP_CVTA,
    OP_CVTA_TO,
    OP_ISSPACEP,
    OP_ADD,
    OP_SUB,
    OP_MUL_LO,
    OP_MUL_HI,
    OP_MUL_WIDE,
    OP_MAD_LO,
    OP_MAD_HI,
    OP_MAD_WIDE,
    OP_MUL24_LO,
    OP_MUL24_HI,
    OP_MAD24_LO,
    OP_MAD24_HI,
    OP_SAD,
    OP_DIV,
    OP_REM,
    OP_ABS,
    OP_NEG,
    OP_MIN,
    OP_MAX,
    OP_ADD_CARRY,
    OP_SUB_CARRY,
    OP_MAD_CARRY_LO,
    OP_MAD_CARRY_HI,
    OP_FMA,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_NOT,
    OP_CNOT,
    OP_SHL,
    OP_SHR,
    OP_SHF_L,
    OP_SHF_R,
    OP_LOP3,
    OP_BFE,
    OP_BFI,
    OP_BREV,
    OP_CLZ,
    OP_POPC,
    OP_BFIND,
    OP_PRMT,
    OP_DP4A,
    OP_DP2A,
    OP_BMSK,
    OP_SZEXT,
    OP_FNS,
    OP_PACKED,
    OP_VIDEO,
    OP_SETP,
    OP_SET,
    OP_SELP,
    OP_SLCT,
    OP_CVT,
    OP_CVT_PAIR,
    OP_CVT_PACK,
    OP_PRED_LOGIC,
    OP_PRED_MOV,
    OP_SQRT,
    OP_RSQRT,
    OP_RCP,
    OP_EX2,
    OP_LG2,
    OP_SIN,
    OP_COS,
    OP_TANH,
    OP_COPYSIGN,
    OP_TESTP,
    OP_SHFL,
    OP_VOTE,
    OP_MATCH,
    OP_ACTIVEMASK,
    OP_REDUX,
    OP_ELECT,
    OP_MMA, /* OP_MMA to OP_MATRIX_MOVE need all lanes of the warp */
    OP_MATRIX_LOAD,
    OP_MATRIX_STORE,
    OP_MATRIX_LOAD8,
    OP_MATRIX_STORE8,
    OP_MATRIX_MOVE,
    OP_BAR,
    OP_BAR_WARP,
    OP_FENCE,
    OP_BRA,
    OP_BRX,
    OP_ALLOCA,
    OP_STACK_SAVE,
    OP_STACK_RESTORE,
    OP_CALL,
    OP_BUILTIN,
    OP_RET,
    OP_EXIT,
    OP_TRAP,
    OP_UNSUPPORTED, /* stands for a function that cannot run */
    OP_NOP
};

enum comparison {
    CMP_EQ,
    CMP_NE,
    CMP_LT,
    CMP_LE,
    CMP_GT,
    CMP_GE,
    CMP_LO,
    CMP_LS,
    CMP_HI,
    CMP_HS,
    CMP_EQU,
    CMP_NEU,
    CMP_LTU,
    CMP_LEU,
    CMP_GTU,
    CMP_GEU,
    CMP_NUM,
    CMP_NAN
};

enum atomic {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR,
    ATOM_INC,
    ATOM_DEC,
    ATOM_EXCH,
    ATOM_CAS
};
enum shuffle { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum builtin {
    BUILTIN_VPRINTF,
    BUILTIN_ASSERT_FAIL,
    BUILTIN_MALLOC,
    BUILTIN_FREE,
    /* the device runtime's, in device_launch.c */
    BUILTIN_GET_PARAMETER_BUFFER,
    BUILTIN_LAUNCH_DEVICE,
    BUILTIN_GET_LAST_ERROR,
    BUILTIN_PEEK_AT_LAST_ERROR,
    BUILTIN_GET_ERROR_NAME,
    BUILTIN_GET_ERROR_STRING,
    BUILTIN_MEMCPY_ASYNC,
    BUILTIN_MEMSET_ASYNC,
    BUILTIN_DEVICE_MALLOC,
    BUILTIN_DEVICE_FREE,
    BUILTIN_STREAM_CREATE,
    BUILTIN_EVENT_CREATE,
    BUILTIN_STREAM_OR_EVENT /* the other calls on streams and events */
};
enum video { VIDEO_ADD, VIDEO_SUB, VIDEO_AVERAGE, VIDEO_DIFFERENCE, VIDEO_MIN, VIDEO_MAX };
enum mbarrier {
    MBARRIER_INIT,
    MBARRIER_INVALIDATE,
    MBARRIER_ARRIVE,
    MBARRIER_ARRIVE_DROP,
    MBARRIER_ARRIVE_EXPECT,
    MBARRIER_EXPECT,
    MBARRIER_COMPLETE,
    MBARRIER_TEST,
    MBARRIER_TEST_PARITY,
    MBARRIER_PENDING
};
enum float_class { FLOAT_FINITE, FLOAT_INFINITE, FLOAT_NUMBER, FLOAT_NAN, FLOAT_NORMAL, FLOAT_SUBNORMAL };

enum flag {
    FLAG_SATURATE = 1,
    FLAG_FLUSH = 2, /* .ftz */
    FLAG_CARRY_IN = 4,
    FLAG_CARRY_OUT = 8,
    FLAG_CLAMP = 16,
    FLAG_ALL = 32,
    FLAG_PROPAGATE_NAN = 64,  /* min.NaN */
    FLAG_INTEGER_ROUND = 128, /* cvt.rni, .rzi, .rmi, .rpi */
    FLAG_ARRIVE = 256,
    FLAG_REDUCE = 512,
    FLAG_RELU = 1024,     /* negative results become 0 */
    FLAG_XOR_SIGN = 2048, /* min.xorsign.abs */
    FLAG_FINITE = 4096,   /* .satfinite: overflow becomes the largest number */
    FLAG_STRONG = 8192    /* other threads access the same memory: .volatile, .relaxed, .acquire, .release */
};

enum special {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_CLOCK,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER,
    SPECIAL_GLOBALTIMER_HI,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_DYNAMIC_SHARED,
    SPECIAL_TOTAL_SHARED,
    SPECIAL_WORKSPACE_HIGH,
    SPECIAL_WORKSPACE_LOW,
    SPECIAL_RESERVED_BEGIN,
    SPECIAL_RESERVED_END,
    SPECIAL_ONE,
    SPECIAL_ZERO
};

enum operand_kind { OPERAND_NONE, OPERAND_REGISTER, OPERAND_PREDICATE, OPERAND_CONSTANT };

struct operand {
    uint8_t kind;
    bool negated;   /* for predicates */
    uint32_t index; /* number of a register or predicate in the frame, or of a block of constants */
};

struct warp;
struct instruction;

/* Runs an instruction for the lanes of `mask`, which is not 0. */
typedef enum ptx_status runner(struct warp *warp, const struct instruction *instruction, uint32_t mask);

struct instruction {
    runner *run; /* set by bind_runners; unused for control flow */
    uint8_t operation;
    uint8_t type;   /* type of the result, or of all operands */
    uint8_t source; /* type of the source if it differs; its space for a bulk copy */
    uint8_t space;
    uint8_t rounding;
    uint8_t
        variant;    /* comparison, atomic, shuffle, vote, special, builtin, float_class, lop3 or prmt table */
    uint8_t logic;  /* OP_AND, OP_OR, OP_XOR after a comparison; else 0 */
    uint8_t vector; /* elements of a load, store or packed move */
    uint16_t flags;
    bool common;          /* ptx_run_common may have a fast version */
    bool counted;         /* the first of its PTX instruction, which struct ptx_counts counts */
    bool waits;           /* a branch back to a loop that waits for memory (spin.c) */
    struct operand guard; /* OPERAND_NONE: no guard */
    struct operand to[4];
    struct operand from[4];
    int64_t offset; /* address offset, frame offset, or branch target */
    uint32_t line;
    uint32_t list; /* index of the matrices or of the image access, or the destination offset of cp.async */
};

#endif

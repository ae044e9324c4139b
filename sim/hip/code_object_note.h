/* The metadata of a code object: the AMDGPU note, in MessagePack. */
#ifndef NEUTRINO_SIM_HIP_CODE_OBJECT_NOTE_H
#define NEUTRINO_SIM_HIP_CODE_OBJECT_NOTE_H

struct byte_buffer;
struct ptx_module;

/* The whole note, padded. */
void hip_code_object_note(const struct ptx_module *module, struct byte_buffer *note);

#endif

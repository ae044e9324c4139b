/* Target: the PTX linker. An input is linked alone, with itself, and with a text that defines and uses common
 * names. The parser must accept the product. */
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "target.h"

enum { ALONE, TWICE, BESIDE, WAYS };

const enum style target_style = STYLE_GENTLE;
const char *const target_outcomes[OUTCOMES] = {[PTX_LINKED] = "linked",
                                               [PTX_LINK_TEXT] = "text refused",
                                               [PTX_LINK_SYMBOL] = "symbols",
                                               [PTX_LINK_MEMORY] = "memory"};

static const char ours[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                           ".visible .global .align 4 .u32 v_;\n.global .u32 s_;\n"
                           ".visible .func (.param .b64 o_) f_(.param .b64 i_)\n{\n.reg .b64 %rd<2>;\n"
                           "ld.param.b64 %rd1, [i_];\nst.param.b64 [o_], %rd1;\nret;\n}\n";

static enum ptx_link_status add(struct ptx_link *link, const char *text, size_t size, const char *name)
{
    struct ptx_diagnostic diagnostic = {0};
    const enum ptx_link_status status = ptx_link_add(link, text, size, name, &diagnostic);
    if (status != PTX_LINKED && status != PTX_LINK_MEMORY && diagnostic.text[0] == 0)
        finding("text %s refused without a reason", name);
    return status;
}

static enum ptx_link_status finish(struct ptx_link *link)
{
    struct ptx_diagnostic diagnostic = {0};
    struct ptx_module *module = NULL;
    char *text = NULL;
    size_t size = 0;
    const enum ptx_link_status status = ptx_link_finish(link, &text, &size, &diagnostic);
    if (status == PTX_LINKED && (text == NULL || text[size] != 0))
        finding("linked to no text");
    if (status == PTX_LINK_SYMBOL && diagnostic.text[0] == 0)
        finding("symbols refused without a reason");
    /* Two texts together may exceed the limit of variables per text. */
    if (status == PTX_LINKED && ptx_module_parse(text, size, &module, &diagnostic) != 0 &&
        strstr(diagnostic.text, "more than") == NULL)
        finding("the product is refused: %s\n%s", diagnostic.text, text);
    ptx_module_free(module);
    free(text);
    return status;
}

unsigned target_take(const unsigned char *bytes, size_t size)
{
    const char *text = (const char *)bytes;
    enum ptx_link_status worst = PTX_LINKED;
    for (int way = ALONE; way < WAYS; way++) {
        struct ptx_link *link = ptx_link_begin();
        if (link == NULL)
            finding("no memory for a link");
        enum ptx_link_status status = add(link, text, size, "one");
        if (status == PTX_LINKED && way == TWICE)
            status = add(link, text, size, "two");
        if (status == PTX_LINKED && way == BESIDE)
            status = add(link, ours, sizeof ours - 1, "ours");
        if (status == PTX_LINKED)
            status = finish(link);
        ptx_link_end(link);
        worst =
            way == TWICE || status < worst ? worst : status; /* a text linked with itself usually collides */
    }
    return (unsigned)worst;
}

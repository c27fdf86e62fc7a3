// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// template.html, which `./dev page` builds from page/, as it is.

    .section .rodata
    .global culprit_page_template
    .global culprit_page_template_end
culprit_page_template:
    .incbin CULPRIT_PAGE_TEMPLATE
culprit_page_template_end:
    .byte 0

    .section .note.GNU-stack, "", %progbits

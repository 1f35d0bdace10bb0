/* The module drethtr.base._native. */
#include "shared.h"

static PyMethodDef functions[] = {
    {"prefix_search", prefix_search, METH_VARARGS, NULL},
    {"log_probabilities", log_probabilities, METH_VARARGS, NULL},
    {"surprises", surprises, METH_VARARGS, NULL},
    {"numbers", numbers, METH_VARARGS, NULL},
    {"longer", longer, METH_VARARGS, NULL},
    {"earlier", earlier, METH_VARARGS, NULL},
    {"whole", whole, METH_VARARGS, NULL},
    {"viterbi", viterbi, METH_VARARGS, NULL},
    {"seam", seam, METH_VARARGS, NULL},
    {"nearest", nearest, METH_VARARGS, NULL},
    {"covered", covered, METH_VARARGS, NULL},
    {"word_on_pages", word_on_pages, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "drethtr.base._native", .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module); }

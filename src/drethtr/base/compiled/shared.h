/* What the compiled functions share.

   Arrays are passed as buffers; their sizes are checked here, their element types are up to the caller. Whatever the
   values, nothing outside the buffers is read or written. All loops run without the GIL.

   Only the stable ABI of CPython 3.11 is used, so one build works with every later version. */
#ifndef DRETHTR_SHARED_H
#define DRETHTR_SHARED_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NEVER (-INFINITY)
#define NONE (-1)

static inline int is_array(const Py_buffer *buffer, Py_ssize_t length, Py_ssize_t size)
{
    return buffer->len / size == length && buffer->len % size == 0 && (uintptr_t)buffer->buf % (size_t)size == 0;
}

static inline void release(Py_buffer *buffers, int count)
{
    while (count--)
        PyBuffer_Release(&buffers[count]);
}

static inline PyObject *refused(const char *what)
{
    PyErr_SetString(PyExc_ValueError, what);
    return NULL;
}

#ifdef __GNUC__
#pragma GCC visibility push(hidden) /* no other library's function of the same name is called instead */
#endif

/* texts.c */
PyObject *log_probabilities(PyObject *self, PyObject *args);
PyObject *surprises(PyObject *self, PyObject *args);
PyObject *prefix_search(PyObject *self, PyObject *args);
PyObject *numbers(PyObject *self, PyObject *args);
PyObject *longer(PyObject *self, PyObject *args);
PyObject *earlier(PyObject *self, PyObject *args);
PyObject *whole(PyObject *self, PyObject *args);
PyObject *viterbi(PyObject *self, PyObject *args);

/* images.c */
PyObject *seam(PyObject *self, PyObject *args);
PyObject *nearest(PyObject *self, PyObject *args);
PyObject *covered(PyObject *self, PyObject *args);

/* pages.c */
PyObject *word_on_pages(PyObject *self, PyObject *args);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif

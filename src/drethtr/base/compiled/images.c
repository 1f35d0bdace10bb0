/* The inner loops of cutting lines out of a page.

   The Python versions in layout/outline.py and images/straighten.py define the results; tests/base/test_native.py checks
   that both agree. */
#include "shared.h"

/* seam(cost, path): the cheapest path through cost (height, width), as a row for each column. */
PyObject *seam(PyObject *self, PyObject *args)
{
    Py_buffer b[2];
    if (!PyArg_ParseTuple(args, "y*w*", &b[0], &b[1]))
        return NULL;
    Py_ssize_t width = b[1].len / 8, cells = b[0].len / 8, height = width ? cells / width : 0;
    int fits = height > 0 && is_array(&b[0], height * width, 8) && is_array(&b[1], width, 8);
    /* Columns one after another, with an impossible row above and below each. */
    double *totals = fits ? malloc((size_t)(width * (height + 2)) * sizeof(double)) : NULL;
    if (totals) {
        const double *cost = b[0].buf;
        int64_t *path = b[1].buf;
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t column = 0; column < width; column++) {
            double *own = totals + column * (height + 2) + 1;
            own[-1] = own[height] = INFINITY;
            for (Py_ssize_t row = 0; row < height; row++)
                own[row] = cost[row * width + column];
            /* Ties go to the upper row, like `argmin` in Python; a seam through blank paper has many. */
            for (Py_ssize_t row = 0; column && row < height; row++) {
                const double *before = own + row - height - 2;
                double least = before[-1] < before[0] ? before[-1] : before[0];
                own[row] += before[1] < least ? before[1] : least;
            }
        }
        const double *last = totals + (width - 1) * (height + 2) + 1;
        Py_ssize_t row = 0;
        for (Py_ssize_t other = 1; other < height; other++)
            row = last[other] < last[row] ? other : row;
        path[width - 1] = row;
        for (Py_ssize_t column = width - 1; column > 0; column--) {
            const double *before = totals + (column - 1) * (height + 2) + 1;
            Py_ssize_t from = row - 1;
            from = before[row] < before[from] ? row : from;
            from = before[row + 1] < before[from] ? row + 1 : from;
            row = from < 0 ? 0 : from < height ? from : height - 1; /* of costs that are no numbers */
            path[column - 1] = row;
        }
        Py_END_ALLOW_THREADS;
    }
    free(totals);
    release(b, 2);
    if (!fits)
        return refused("costs are an array with a column for each place of the path");
    return totals ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

/* nearest(points, others, places): for each of the points (n, 2), the place of the nearest of the others (m, 2). */
PyObject *nearest(PyObject *self, PyObject *args)
{
    Py_buffer b[3];
    if (!PyArg_ParseTuple(args, "y*y*w*", &b[0], &b[1], &b[2]))
        return NULL;
    Py_ssize_t count = b[0].len / 16, most = b[1].len / 16;
    int fits = most > 0 && is_array(&b[0], 2 * count, 8) && is_array(&b[1], 2 * most, 8) && is_array(&b[2], count, 8);
    if (fits) {
        const double *points = b[0].buf, *others = b[1].buf;
        int64_t *places = b[2].buf;
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t point = 0; point < count; point++) {
            double x = points[2 * point], y = points[2 * point + 1], least = INFINITY;
            places[point] = 0;
            for (Py_ssize_t other = 0; other < most; other++) {
                double across = x - others[2 * other], down = y - others[2 * other + 1];
                double away = across * across + down * down;
                if (away < least) {
                    least = away;
                    places[point] = other;
                }
            }
        }
        Py_END_ALLOW_THREADS;
    }
    release(b, 3);
    return fits ? Py_NewRef(Py_None) : refused("points are pairs, with a place for each");
}

/* A place in a table of this length, for a position that may be anywhere, or no number. */
static Py_ssize_t clipped(double position, Py_ssize_t length)
{
    return !(position >= 0) ? 0 : position >= (double)length ? length - 1 : (Py_ssize_t)position;
}

/* covered(table, table width, left, top, places, downs, above, mask): which positions of a strip are set in a table whose
   second column begins at `left`, and its second row at `top`; row r of column c is at
   places[c] + (r - above + 1/2) * downs[c]. */
PyObject *covered(PyObject *self, PyObject *args)
{
    Py_buffer b[4];
    Py_ssize_t across;
    double left, top, above;
    if (!PyArg_ParseTuple(args, "y*nddy*y*dw*", &b[0], &across, &left, &top, &b[1], &b[2], &above, &b[3]))
        return NULL;
    Py_ssize_t width = b[1].len / 16, down = across > 0 ? b[0].len / across : 0, height = width ? b[3].len / width : 0;
    int fits = down > 0 && is_array(&b[0], down * across, 1) && is_array(&b[1], 2 * width, 8) &&
               is_array(&b[2], 2 * width, 8) && is_array(&b[3], height * width, 1);
    if (fits) {
        const uint8_t *table = b[0].buf;
        const double *places = b[1].buf, *downs = b[2].buf;
        uint8_t *mask = b[3].buf;
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t row = 0; row < height; row++) {
            double below = (double)row - above + 0.5;
            for (Py_ssize_t column = 0; column < width; column++) {
                double x = places[2 * column] + below * downs[2 * column];
                double y = places[2 * column + 1] + below * downs[2 * column + 1];
                mask[row * width + column] = table[clipped(y - top + 1, down) * across + clipped(x - left + 1, across)];
            }
        }
        Py_END_ALLOW_THREADS;
    }
    release(b, 4);
    return fits ? Py_NewRef(Py_None) : refused("the arrays are not of one strip and its table");
}

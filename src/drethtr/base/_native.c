/* Compiled inner loops of CTC search, n-grams and keyword search.

   The Python versions beside the callers define the results: recognition/search/ctc_search.py, recognition/search/
   ctc_paths.py, language/ngrams.py and search/forward.py. tests/base/test_native.py checks that both agree.

   Arrays are passed as buffers; their sizes are checked here, their element types are up to the caller. Whatever the
   values, nothing outside the buffers is read or written. All loops run without the GIL.

   Only the stable ABI of CPython 3.11 is used, so one build works with every later version. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NEVER (-INFINITY)
#define NONE (-1)

/* log(exp(a) + exp(b)); a term e^40 times smaller would not change the result. */
static double log_add(double a, double b)
{
    double high = a < b ? b : a, low = a < b ? a : b;
    return low - high > -40 ? high + log1p(exp(low - high)) : high; /* false for the NaN of twice -infinity */
}

static int is_array(const Py_buffer *buffer, Py_ssize_t length, Py_ssize_t size)
{
    return buffer->len / size == length && buffer->len % size == 0 && (uintptr_t)buffer->buf % (size_t)size == 0;
}

static void release(Py_buffer *buffers, int count)
{
    while (count--)
        PyBuffer_Release(&buffers[count]);
}

static PyObject *refused(const char *what)
{
    PyErr_SetString(PyExc_ValueError, what);
    return NULL;
}

/* ---- N-grams: language/ngrams.py describes the tree ---- */

#define LONGEST 10
#define STEP (1 / 16.0)
#define FAINTEST (-255 * STEP)

typedef struct {
    int order;
    int32_t nodes, contexts;
    int token_size;
    const char *tokens;
    const uint8_t *losses;
    const int64_t *firsts;
    const int8_t *backoffs;
    Py_buffer buffers[4];
} NGrams;

/* The nodes of the last 0, 1, 2, ... tokens; NONE where no n-gram begins with these. */
typedef struct {
    int32_t nodes[LONGEST];
} State;

static void release_ngrams(NGrams *ngrams)
{
    release(ngrams->buffers, 4);
}

/* Parse (order, tokens, losses, firsts, backoffs). 0 and an exception if invalid; else release them later. */
static int take_ngrams(PyObject *from, NGrams *ngrams)
{
    Py_buffer *tokens = ngrams->buffers, *losses = tokens + 1, *firsts = tokens + 2, *backoffs = tokens + 3;
    if (!PyArg_ParseTuple(from, "iy*y*y*y*", &ngrams->order, tokens, losses, firsts, backoffs))
        return 0;
    Py_ssize_t nodes = losses->len, contexts = backoffs->len;
    int fits = 1 <= ngrams->order && ngrams->order <= LONGEST && 1 <= contexts && contexts <= nodes &&
               nodes < INT32_MAX && is_array(firsts, contexts + 1, 8) &&
               (is_array(tokens, nodes, 1) || is_array(tokens, nodes, 2));
    if (!fits) {
        release_ngrams(ngrams);
        refused("no tree of n-grams");
        return 0;
    }
    ngrams->nodes = (int32_t)nodes;
    ngrams->contexts = (int32_t)contexts;
    ngrams->token_size = (int)(tokens->len / nodes);
    ngrams->tokens = tokens->buf;
    ngrams->losses = losses->buf;
    ngrams->firsts = firsts->buf;
    ngrams->backoffs = backoffs->buf;
    return 1;
}

static int token_of(const NGrams *ngrams, int64_t node)
{
    return ngrams->token_size == 1 ? ((const uint8_t *)ngrams->tokens)[node] : ((const int16_t *)ngrams->tokens)[node];
}

/* The node of the n-gram extended by a token; NONE if there is none. */
static int32_t child(const NGrams *ngrams, int32_t node, int32_t token)
{
    if (node < 0 || node >= ngrams->contexts)
        return NONE;
    int64_t low = ngrams->firsts[node], end = ngrams->firsts[node + 1], high = end;
    if (low < 0 || end > ngrams->nodes)
        return NONE;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (token_of(ngrams, middle) < token)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && token_of(ngrams, low) == token ? (int32_t)low : NONE;
}

/* The state before the first token. */
static State nowhere(const NGrams *ngrams)
{
    State state = {{0}};
    for (int length = 1; length < ngrams->order; length++)
        state.nodes[length] = NONE;
    return state;
}

static State state_after(const NGrams *ngrams, const State *state, int32_t token)
{
    State after = nowhere(ngrams);
    for (int length = 1; length < ngrams->order; length++)
        after.nodes[length] = child(ngrams, state->nodes[length - 1], token);
    return after;
}

/* The log-probability of a token. */
static double next_token(const NGrams *ngrams, const State *state, int32_t token)
{
    int lost = 0;
    for (int length = ngrams->order - 1; length >= 0; length--) {
        int32_t node = state->nodes[length], longer = child(ngrams, node, token);
        if (longer >= 0)
            return STEP * (lost - ngrams->losses[longer]);
        if (node >= 0 && node < ngrams->contexts)
            lost += ngrams->backoffs[node];
    }
    return STEP * lost + FAINTEST;
}

static PyObject *log_probability(PyObject *self, PyObject *args)
{
    Py_buffer tokens;
    PyObject *table;
    NGrams ngrams;
    if (!PyArg_ParseTuple(args, "y*O!", &tokens, &PyTuple_Type, &table))
        return NULL;
    if (!is_array(&tokens, tokens.len / 4, 4) || !take_ngrams(table, &ngrams)) {
        PyBuffer_Release(&tokens);
        return PyErr_Occurred() ? NULL : refused("tokens are 32-bit integers");
    }
    double total = 0;
    const int32_t *line = tokens.buf;
    Py_ssize_t length = tokens.len / 4;
    Py_BEGIN_ALLOW_THREADS;
    State state = nowhere(&ngrams);
    for (Py_ssize_t place = 0; place < length; place++) {
        if (place)
            total += next_token(&ngrams, &state, line[place]);
        state = state_after(&ngrams, &state, line[place]);
    }
    Py_END_ALLOW_THREADS;
    release_ngrams(&ngrams);
    PyBuffer_Release(&tokens);
    return PyFloat_FromDouble(total);
}

/* ---- Prefix search: see prefix_search_in_python in recognition/search/ctc_search.py ---- */

#define SURE (-1e-3)
#define MOST_BEAMS (1 << 20)
#define REMEMBERED (1 << 10)

typedef struct {
    double in_blank, in_token, total;
} Mass;

static const Mass OUT_OF_RACE = {NEVER, NEVER, NEVER};

/* A prefix of a text: its last token, the prefix without that token, the first child and the next sibling; NONE where
   there is none. */
typedef struct {
    int32_t token, before, longer, sibling;
    Mass mass;
    double vote;
    int placed; /* whether the state is known */
    State state;
} Prefix;

/* A cached vote of a prefix extended by a token, since the same ones recur from step to step. */
typedef struct {
    int32_t prefix, token;
    double vote;
} Remembered;

typedef struct {
    double score, made;
    int32_t before, token;
} Grown;

typedef struct {
    double score;
    int32_t prefix;
} Ranked;

typedef struct {
    double gain;
    int32_t token;
} Gain;

typedef struct {
    const float *rows;
    Py_ssize_t steps, tokens;
    int32_t blank;
    Py_ssize_t beams, tokens_per_step;
    double margin;

    const NGrams *ngrams; /* NULL for none */
    double weight, per_token;
    int32_t begin, end;

    Prefix *prefixes;
    int32_t count;
    Remembered remembered[REMEMBERED];

    Gain *gains;         /* [tokens_per_step] */
    int32_t *kept;       /* [beams] active prefixes, best first */
    Mass *stays;         /* [beams] their masses after this step */
    double *leaders;     /* [beams] a heap with the least first */
    Py_ssize_t kept_count, gain_count;
    Grown *grown;
    Ranked *ranked;
    size_t room, grown_room, ranked_room; /* capacities of prefixes, grown and ranked */
} Search;

/* A log-probability; -infinity for invalid values. */
static double at(const float *row, int32_t token) { return row[token] < INFINITY ? row[token] : NEVER; }

static double score_of(const Prefix *prefix) { return prefix->mass.total + prefix->vote; }

/* Make room for one more item, doubling the array; 0 if out of memory. */
static int make_room(void **array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return 1;
    size_t more = *room ? 2 * *room : 64;
    void *larger = more > SIZE_MAX / size ? NULL : realloc(*array, more * size);
    if (!larger)
        return 0;
    *array = larger;
    *room = more;
    return 1;
}

static int32_t new_prefix(Search *search, int32_t token, int32_t before, double vote)
{
    if (search->count == INT32_MAX ||
        !make_room((void **)&search->prefixes, &search->room, (size_t)search->count, sizeof(Prefix)))
        return NONE;
    Prefix *prefix = &search->prefixes[search->count];
    *prefix = (Prefix){.token = token, .before = before, .longer = NONE, .sibling = NONE, .mass = OUT_OF_RACE};
    prefix->vote = vote;
    if (before != NONE) {
        prefix->sibling = search->prefixes[before].longer;
        search->prefixes[before].longer = search->count;
    }
    return search->count++;
}

static int32_t find_longer(const Search *search, int32_t prefix, int32_t token)
{
    int32_t longer = search->prefixes[prefix].longer;
    while (longer != NONE && search->prefixes[longer].token != token)
        longer = search->prefixes[longer].sibling;
    return longer;
}

/* The n-grams' vote on the tokens of a prefix and one more. */
static double vote_with(Search *search, int32_t number, int32_t token)
{
    Prefix *prefix = &search->prefixes[number];
    if (!search->ngrams)
        return prefix->vote;
    Remembered *slot = &search->remembered[((uint32_t)number * 31u + (uint32_t)token) % REMEMBERED];
    if (slot->prefix == number && slot->token == token)
        return slot->vote;
    if (!prefix->placed) {
        /* A prefix is created after a vote on it, so the state of its parent is known. */
        prefix->state = state_after(search->ngrams, &search->prefixes[prefix->before].state, prefix->token);
        prefix->placed = 1;
    }
    double extra = token == search->end ? 0.0 : search->per_token;
    double vote = search->weight * (next_token(search->ngrams, &prefix->state, token) + extra);
    *slot = (Remembered){number, token, prefix->vote + vote};
    return slot->vote;
}

/* The most probable tokens of a step, best first; ties in order of tokens. */
static void find_gains(Search *search, const float *row)
{
    Gain *gains = search->gains;
    Py_ssize_t count = 0;
    double least = NEVER;
    for (int32_t token = 0; token < search->tokens; token++) {
        double gain = at(row, token);
        if (gain <= least || token == search->blank)
            continue;
        Py_ssize_t place = count < search->tokens_per_step ? count++ : count - 1;
        for (; place > 0 && gains[place - 1].gain < gain; place--)
            gains[place] = gains[place - 1];
        gains[place] = (Gain){gain, token};
        if (count == search->tokens_per_step)
            least = gains[count - 1].gain;
    }
    search->gain_count = count;
}

/* The masses of a prefix after a step that keeps it, or extends its parent to it. */
static Mass stay(const Search *search, const Prefix *prefix, const float *row)
{
    double token = at(row, prefix->token);
    Mass after = {prefix->mass.total + at(row, search->blank), prefix->mass.in_token + token, NEVER};
    if (prefix->before != NONE) {
        const Prefix *before = &search->prefixes[prefix->before];
        /* A repeated token is only distinguished from a long one by a blank. */
        if (before->mass.total > NEVER)
            after.in_token = log_add(
                after.in_token, token + (before->token == prefix->token ? before->mass.in_blank : before->mass.total));
    }
    after.total = log_add(after.in_blank, after.in_token);
    return after;
}

/* Replace the least score of a heap. */
static void replace_least(double *heap, Py_ssize_t count, double score)
{
    Py_ssize_t place = 0, below;
    while ((below = 2 * place + 1) < count) {
        if (below + 1 < count && heap[below + 1] < heap[below])
            below++;
        if (heap[below] >= score)
            break;
        heap[place] = heap[below];
        place = below;
    }
    heap[place] = score;
}

/* Advance the active prefixes by one step; 0 if out of memory. */
static int advance(Search *search, const float *row)
{
    double *leaders = search->leaders, best = NEVER;
    double most = search->ngrams ? search->weight * search->per_token : 0.0;
    find_gains(search, row);
    for (Py_ssize_t rank = 0; rank < search->kept_count; rank++) {
        const Prefix *prefix = &search->prefixes[search->kept[rank]];
        search->stays[rank] = stay(search, prefix, row);
        double score = search->stays[rank].total + prefix->vote;
        best = best < score ? score : best;
    }
    /* The best scores so far; a prefix must beat the least of them to stay active. */
    double floor = best - search->margin;
    for (Py_ssize_t place = 0; place < search->beams; place++)
        leaders[place] = floor;
    for (Py_ssize_t rank = 0; rank < search->kept_count; rank++) {
        double score = search->stays[rank].total + search->prefixes[search->kept[rank]].vote;
        if (score > leaders[0])
            replace_least(leaders, search->beams, score);
    }

    size_t grown = 0;
    for (Py_ssize_t rank = 0; rank < search->kept_count; rank++) {
        int32_t number = search->kept[rank];
        for (Py_ssize_t place = 0; place < search->gain_count; place++) {
            const Prefix *prefix = &search->prefixes[number];
            double gain = search->gains[place].gain;
            int32_t token = search->gains[place].token;
            if (score_of(prefix) + gain + most <= leaders[0])
                break;
            double made = gain + (prefix->token == token ? prefix->mass.in_blank : prefix->mass.total);
            /* An active child has already received this mass in `stay`. */
            int32_t longer = find_longer(search, number, token);
            if (longer != NONE && search->prefixes[longer].mass.total > NEVER)
                continue;
            double score = made + vote_with(search, number, token);
            if (score > leaders[0]) {
                if (!make_room((void **)&search->grown, &search->grown_room, grown, sizeof(Grown)))
                    return 0;
                search->grown[grown++] = (Grown){score, made, number, token};
                replace_least(leaders, search->beams, score);
            }
        }
    }

    size_t count = 0;
    for (Py_ssize_t rank = 0; rank < search->kept_count; rank++) {
        Prefix *prefix = &search->prefixes[search->kept[rank]];
        prefix->mass = search->stays[rank];
        if (!make_room((void **)&search->ranked, &search->ranked_room, count, sizeof(Ranked)))
            return 0;
        search->ranked[count++] = (Ranked){score_of(prefix), search->kept[rank]};
    }
    for (size_t place = 0; place < grown; place++) {
        Grown *one = &search->grown[place];
        if (one->score < leaders[0])
            continue;
        int32_t longer = find_longer(search, one->before, one->token);
        if (longer == NONE)
            longer = new_prefix(search, one->token, one->before, vote_with(search, one->before, one->token));
        if (longer == NONE || !make_room((void **)&search->ranked, &search->ranked_room, count, sizeof(Ranked)))
            return 0;
        search->prefixes[longer].mass = (Mass){NEVER, one->made, one->made};
        search->ranked[count++] = (Ranked){score_of(&search->prefixes[longer]), longer};
    }

    /* Insertion sort: they are few and nearly in order. */
    Ranked *ranked = search->ranked;
    for (size_t next = 1; next < count; next++) {
        Ranked one = ranked[next];
        size_t place = next;
        for (; place > 0 && ranked[place - 1].score < one.score; place--)
            ranked[place] = ranked[place - 1];
        ranked[place] = one;
    }
    double least = count && ranked[0].score - search->margin > floor ? ranked[0].score - search->margin : floor;
    search->kept_count = 0;
    for (size_t rank = 0; rank < count; rank++) {
        if (search->kept_count < search->beams && ranked[rank].score > least)
            search->kept[search->kept_count++] = ranked[rank].prefix;
        else
            search->prefixes[ranked[rank].prefix].mass = OUT_OF_RACE;
    }
    return 1;
}

/* Process all steps; 0 if out of memory. */
static int run(Search *search)
{
    for (int slot = 0; slot < REMEMBERED; slot++)
        search->remembered[slot].prefix = NONE;
    search->gains = malloc((size_t)search->tokens_per_step * sizeof(Gain));
    search->kept = malloc((size_t)search->beams * sizeof(int32_t));
    search->stays = malloc((size_t)search->beams * sizeof(Mass));
    search->leaders = malloc((size_t)search->beams * sizeof(double));
    if (!search->gains || !search->kept || !search->stays || !search->leaders ||
        new_prefix(search, search->blank, NONE, 0.0) == NONE)
        return 0;
    Prefix *root = &search->prefixes[0];
    root->mass = (Mass){0.0, NEVER, 0.0};
    root->placed = 1;
    if (search->ngrams) {
        State nothing = nowhere(search->ngrams);
        root->state = state_after(search->ngrams, &nothing, search->begin);
    }
    search->kept[0] = 0;
    search->kept_count = 1;

    /* With a margin, a certainly blank step after another one only changes the sum, so it is skipped. */
    double skipped = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        int sure_before = 1;
        for (Py_ssize_t step = 0; step < search->steps; step++) {
            const float *row = search->rows + step * search->tokens;
            int sure = at(row, search->blank) > SURE;
            int idle = sure && sure_before && search->margin < INFINITY;
            sure_before = sure;
            if (pass == 0 && idle)
                skipped += at(row, search->blank);
            if (pass == 1 && !idle && !advance(search, row))
                return 0;
        }
        if (pass == 0)
            search->prefixes[0].mass = (Mass){skipped, NEVER, skipped};
    }

    /* The texts if they end here, best first. */
    if (!make_room((void **)&search->ranked, &search->ranked_room, (size_t)search->kept_count, sizeof(Ranked)))
        return 0;
    for (Py_ssize_t next = 0; next < search->kept_count; next++) {
        int32_t number = search->kept[next];
        Ranked one = {search->prefixes[number].mass.total + vote_with(search, number, search->end), number};
        Py_ssize_t place = next;
        for (; place > 0 && search->ranked[place - 1].score < one.score; place--)
            search->ranked[place] = search->ranked[place - 1];
        search->ranked[place] = one;
    }
    return 1;
}

/* (tokens, log-probability, score) of a text. */
static PyObject *text_of(const Search *search, const Ranked *one)
{
    const Prefix *prefixes = search->prefixes;
    Py_ssize_t length = 0;
    for (int32_t number = one->prefix; prefixes[number].before != NONE; number = prefixes[number].before)
        length++;
    PyObject *tokens = PyTuple_New(length);
    for (int32_t number = one->prefix; tokens && length; number = prefixes[number].before) {
        PyObject *token = PyLong_FromLong(prefixes[number].token);
        if (!token)
            Py_CLEAR(tokens);
        else
            PyTuple_SetItem(tokens, --length, token);
    }
    return tokens ? Py_BuildValue("Ndd", tokens, prefixes[one->prefix].mass.total, one->score) : NULL;
}

static PyObject *texts_of(const Search *search)
{
    PyObject *texts = PyList_New(search->kept_count);
    for (Py_ssize_t rank = 0; texts && rank < search->kept_count; rank++) {
        PyObject *text = text_of(search, &search->ranked[rank]);
        if (!text)
            Py_CLEAR(texts);
        else
            PyList_SetItem(texts, rank, text);
    }
    return texts;
}

static PyObject *prefix_search(PyObject *self, PyObject *args)
{
    Py_buffer rows;
    PyObject *table, *found = NULL;
    NGrams ngrams;
    Search *search = calloc(1, sizeof(Search));
    if (!search)
        return PyErr_NoMemory();
    int blank, begin, end;
    if (!PyArg_ParseTuple(args, "y*ninnddd(ii)O", &rows, &search->tokens, &blank, &search->beams,
                          &search->tokens_per_step, &search->margin, &search->weight, &search->per_token, &begin, &end,
                          &table)) {
        free(search);
        return NULL;
    }
    Py_ssize_t tokens = search->tokens;
    int fits = 0 < tokens && tokens <= INT32_MAX / 4 && 0 <= blank && blank < tokens &&
               is_array(&rows, rows.len / (4 * tokens) * tokens, 4) && 1 <= search->beams &&
               search->beams <= MOST_BEAMS && 1 <= search->tokens_per_step && search->margin >= 0 &&
               fabs(search->weight) < INFINITY && fabs(search->per_token) < INFINITY;
    if (!fits)
        refused("rows (S, V) are 32-bit floats, beams and tokens_per_step at least 1, margin and weights numbers");
    else if (table == Py_None || take_ngrams(table, &ngrams)) {
        search->rows = rows.buf;
        search->steps = rows.len / (4 * tokens);
        search->ngrams = table == Py_None ? NULL : &ngrams;
        search->blank = blank;
        search->begin = begin;
        search->end = end;
        search->tokens_per_step = search->tokens_per_step < tokens ? search->tokens_per_step : tokens;
        int done;
        Py_BEGIN_ALLOW_THREADS;
        done = run(search);
        Py_END_ALLOW_THREADS;
        found = done ? texts_of(search) : PyErr_NoMemory();
        if (search->ngrams)
            release_ngrams(&ngrams);
    }
    free(search->prefixes);
    free(search->gains);
    free(search->kept);
    free(search->stays);
    free(search->leaders);
    free(search->grown);
    free(search->ranked);
    free(search);
    PyBuffer_Release(&rows);
    return found;
}

/* ---- Sums over all paths of a text: see Paths in recognition/search/ctc_paths.py ---- */

/* Logarithms would be slow to add, and plain doubles would underflow: a probability is mantissa * 2^(256 * exponent),
   with the mantissa in (2^-256, 1] or slightly above. Arrays of them are (..., 2) doubles. */
typedef struct {
    double mantissa, exponent;
} Number;

static const Number ZERO = {0.0, NEVER};

#define SCALE 0x1p256
#define LOG_SCALE 177.445678223345993 /* 256 log 2 */

static Number number_of(double logarithm)
{
    if (!(logarithm > NEVER && logarithm < INFINITY))
        return ZERO;
    double exponent = ceil(logarithm / LOG_SCALE);
    return (Number){exp(logarithm - exponent * LOG_SCALE), exponent};
}

static Number add(Number a, Number b)
{
    Number high = a.exponent < b.exponent ? b : a, low = a.exponent < b.exponent ? a : b;
    if (high.exponent == low.exponent)
        high.mantissa += low.mantissa;
    else if (high.exponent == low.exponent + 1)
        high.mantissa += low.mantissa / SCALE;
    return high;
}

static Number multiply(Number a, Number b)
{
    Number product = {a.mantissa * b.mantissa, a.exponent + b.exponent};
    if (product.mantissa < 1 / SCALE && product.mantissa > 0) {
        product.mantissa *= SCALE;
        product.exponent--;
    }
    return product;
}

/* numbers(logarithms, numbers): fills `numbers`. */
static PyObject *numbers(PyObject *self, PyObject *args)
{
    Py_buffer buffers[2];
    if (!PyArg_ParseTuple(args, "y*w*", &buffers[0], &buffers[1]))
        return NULL;
    Py_ssize_t count = buffers[0].len / 8;
    int fits = is_array(&buffers[0], count, 8) && is_array(&buffers[1], 2 * count, 8);
    const double *logarithms = buffers[0].buf;
    Number *found = buffers[1].buf;
    for (Py_ssize_t place = 0; fits && place < count; place++)
        found[place] = number_of(logarithms[place]);
    release(buffers, 2);
    return fits ? Py_NewRef(Py_None) : refused("arrays of other lengths");
}

/* Whether the first two buffers have S numbers, one per step, and the others S + 1, one per number of steps. */
static int fit_steps(const Py_buffer *buffers, int count)
{
    Py_ssize_t steps = buffers[0].len / 16;
    int fits = 1;
    for (int which = 0; which < count; which++)
        fits = fits && is_array(&buffers[which], which < 2 ? 2 * steps : 2 * steps + 2, 8);
    return fits;
}

/* longer(token, blank, same, in_token, in_blank, longer_in_token, longer_in_blank): fills the last two. */
static PyObject *longer(PyObject *self, PyObject *args)
{
    Py_buffer buffers[6];
    int same;
    if (!PyArg_ParseTuple(args, "y*y*py*y*w*w*", &buffers[0], &buffers[1], &same, &buffers[2], &buffers[3],
                          &buffers[4], &buffers[5]))
        return NULL;
    int fits = fit_steps(buffers, 6);
    if (fits) {
        const Number *token = buffers[0].buf, *blank = buffers[1].buf, *in_token = buffers[2].buf;
        const Number *in_blank = buffers[3].buf;
        Number *longer_in_token = buffers[4].buf, *longer_in_blank = buffers[5].buf;
        Number now_token = ZERO, now_blank = ZERO;
        Py_ssize_t steps = buffers[0].len / 16;
        Py_BEGIN_ALLOW_THREADS;
        longer_in_token[0] = longer_in_blank[0] = ZERO;
        for (Py_ssize_t step = 0; step < steps; step++) {
            Number entering = same ? in_blank[step] : add(in_blank[step], in_token[step]);
            now_blank = multiply(add(now_token, now_blank), blank[step]);
            now_token = multiply(add(entering, now_token), token[step]);
            longer_in_token[step + 1] = now_token;
            longer_in_blank[step + 1] = now_blank;
        }
        Py_END_ALLOW_THREADS;
    }
    release(buffers, 6);
    return fits ? Py_NewRef(Py_None) : refused("arrays of other lengths");
}

/* earlier(token, blank, same, entered, earlier_entered): fills the last. */
static PyObject *earlier(PyObject *self, PyObject *args)
{
    Py_buffer buffers[4];
    int same;
    if (!PyArg_ParseTuple(args, "y*y*py*w*", &buffers[0], &buffers[1], &same, &buffers[2], &buffers[3]))
        return NULL;
    int fits = fit_steps(buffers, 4);
    if (fits) {
        const Number *token = buffers[0].buf, *blank = buffers[1].buf, *entered = buffers[2].buf;
        Number *earlier_entered = buffers[3].buf, now_token = ZERO, now_blank = ZERO;
        Py_ssize_t steps = buffers[0].len / 16;
        Py_BEGIN_ALLOW_THREADS;
        earlier_entered[steps] = ZERO;
        for (Py_ssize_t step = steps - 1; step >= 0; step--) {
            Number left = same ? now_blank : add(entered[step + 1], now_blank);
            now_token = multiply(add(left, now_token), token[step]);
            now_blank = multiply(add(entered[step + 1], now_blank), blank[step]);
            earlier_entered[step] = now_token;
        }
        Py_END_ALLOW_THREADS;
    }
    release(buffers, 4);
    return fits ? Py_NewRef(Py_None) : refused("arrays of other lengths");
}

/* whole(same, in_token, in_blank, entered): the log-probability of a beginning and an ending joined. */
static PyObject *whole(PyObject *self, PyObject *args)
{
    Py_buffer buffers[3];
    int same;
    if (!PyArg_ParseTuple(args, "py*y*y*", &same, &buffers[0], &buffers[1], &buffers[2]))
        return NULL;
    Py_ssize_t places = buffers[0].len / 16;
    int fits = is_array(&buffers[0], 2 * places, 8) && is_array(&buffers[1], 2 * places, 8) &&
               is_array(&buffers[2], 2 * places, 8);
    Number sum = ZERO;
    if (fits) {
        const Number *in_token = buffers[0].buf, *in_blank = buffers[1].buf, *entered = buffers[2].buf;
        Py_BEGIN_ALLOW_THREADS;
        for (Py_ssize_t place = 0; place < places; place++) {
            Number left = same ? in_blank[place] : add(in_blank[place], in_token[place]);
            sum = add(sum, multiply(left, entered[place]));
        }
        Py_END_ALLOW_THREADS;
    }
    release(buffers, 3);
    if (!fits)
        return refused("arrays of other lengths");
    return PyFloat_FromDouble(sum.mantissa > 0 ? log(sum.mantissa) + sum.exponent * LOG_SCALE : NEVER);
}

/* ---- The most probable path of a text: see viterbi in recognition/search/ctc_search.py ---- */

/* Labels are blank, token, blank, token, ..., blank. 1 and the label at each step; 0 without a path, -1 if out of
   memory. */
static int viterbi_labels(const float *rows, Py_ssize_t steps, Py_ssize_t tokens, const int32_t *text, Py_ssize_t length,
                          int32_t blank, int32_t *path)
{
    Py_ssize_t labels = 2 * length + 1, step, label;
    double *scores = malloc((size_t)labels * sizeof(double));
    uint8_t *moves = malloc((size_t)steps * (size_t)labels + 1); /* how many labels back the path comes from */
    if (!scores || !moves) {
        free(scores);
        free(moves);
        return -1;
    }
    for (label = 0; label < labels; label++)
        scores[label] = label ? NEVER : 0.0;
    for (step = 0; step < steps; step++) {
        const float *row = rows + step * tokens;
        uint8_t *move = moves + step * labels;
        for (label = labels - 1; label >= 0; label--) {
            int32_t token = label % 2 ? text[label / 2] : blank;
            double best = scores[label];
            int from = 0;
            if (label >= 1 && scores[label - 1] > best) {
                best = scores[label - 1];
                from = 1;
            }
            if (label >= 3 && label % 2 && token != text[label / 2 - 1] && scores[label - 2] > best) {
                best = scores[label - 2];
                from = 2;
            }
            scores[label] = best + row[token];
            move[label] = (uint8_t)from;
        }
    }
    label = labels - 1;
    if (length && scores[label - 1] >= scores[label])
        label--;
    int found = scores[label] > NEVER;
    for (step = steps - 1; found && step >= 0; step--) {
        path[step] = (int32_t)label;
        label -= moves[step * labels + label];
    }
    free(scores);
    free(moves);
    return found;
}

/* viterbi(rows, V, text, blank, path): whether there is a path, and then its label at each step. */
static PyObject *viterbi(PyObject *self, PyObject *args)
{
    Py_buffer rows, text, path;
    Py_ssize_t tokens;
    int blank, found = 0;
    if (!PyArg_ParseTuple(args, "y*ny*iw*", &rows, &tokens, &text, &blank, &path))
        return NULL;
    Py_ssize_t steps = path.len / 4, length = text.len / 4;
    int fits = 0 < tokens && tokens <= INT32_MAX / 4 && 0 <= blank && blank < tokens &&
               is_array(&path, steps, 4) && is_array(&text, length, 4) && steps <= PY_SSIZE_T_MAX / tokens &&
               is_array(&rows, steps * tokens, 4);
    for (Py_ssize_t place = 0; fits && place < length; place++)
        fits = 0 <= ((const int32_t *)text.buf)[place] && ((const int32_t *)text.buf)[place] < tokens;
    if (fits && length <= steps) { /* longer texts have no path, and must not allocate */
        if (steps && 2 * length + 1 > PY_SSIZE_T_MAX / steps)
            found = -1;
        else {
            Py_BEGIN_ALLOW_THREADS;
            found = viterbi_labels(rows.buf, steps, tokens, text.buf, length, blank, path.buf);
            Py_END_ALLOW_THREADS;
        }
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&text);
    PyBuffer_Release(&path);
    if (!fits)
        return refused("rows (S, V) are 32-bit floats, tokens and the path (S,) 32-bit integers, tokens less than V");
    return found < 0 ? PyErr_NoMemory() : PyBool_FromLong(found);
}

/* ---- A pattern on the lines of a page: see probabilities_in_python in search/forward.py ---- */

#define LEVEL_BITS 5
#define LEVELS (1 << LEVEL_BITS)

typedef struct {
    Py_ssize_t lines, steps, entries, texts, states, classes;
    const uint16_t *sizes;                               /* [lines] number of steps */
    uint8_t *gaps, *counts;                              /* [steps] */
    uint8_t *tokens, *levels, *kinds_read;               /* [entries] */
    const uint8_t *class_of;                             /* [texts] */
    const uint16_t *after;                               /* [classes][states] */
    const uint16_t *breaks;                              /* [states] */
    const double *values;                                /* [LEVELS] */
    float floats[LEVELS];                                /* the same as floats */
    uint8_t kinds[256];                                  /* [texts] role of each text in the pattern */
    int pieces;
    struct Piece *piece;                                 /* [pieces] of which a line must have one, if any */
    Py_ssize_t found, dead;
    size_t most; /* most entries of a step */
    double faintest, least;
    /* Masses of each state: in a blank, and in total; by entry of the previous step, and of this one. */
    double *blank, *next, *total;                        /* [states] */
    double *before, *now;                                /* [states][most] */
    double *start, *ends;                                /* [states] */
    uint16_t *alive, *reached;                           /* [states] states with a mass, before and after this step */
    uint32_t *marks, mark;                               /* [states] mark of states in `reached` */
} Lines;

/* Kinds of texts other than letters of the word. */
#define SIGNS 1
#define MARK 251 /* a mark without effect */
#define PAIR 252 /* two letters */
#define ANYTHING 253
#define SEVERAL 254
#define HYPHENS 255

#define LONGEST_WORD 100
#define MOST_PIECES 8
#define FLAT 1e-30f /* keeps products out of the slow denormal range */

#define NO_KIND 250

/* Consecutive letters that every match of a pattern contains. */
struct Piece {
    int letters, open_begin, open_end; /* whether others may precede or follow them in their word */
    uint8_t kinds[LONGEST_WORD + 16];  /* kinds of letters, counted from 1 */
};

static void reach(Lines *l, Py_ssize_t *count, uint16_t state, int entries)
{
    if (l->marks[state] == l->mark)
        return;
    l->marks[state] = l->mark;
    l->reached[(*count)++] = state;
    l->next[state] = 0;
    memset(l->now + (size_t)state * l->most, 0, (size_t)entries * sizeof(double));
}

/* Masses after the last letter of a line, in `total` of the states in `alive`; returns the number of these. */
static Py_ssize_t walk(Lines *l, Py_ssize_t step, Py_ssize_t end, Py_ssize_t entry)
{
    int16_t slots[256]; /* entry of each token at the previous step, or NONE */
    int count_before = 0;
    const uint8_t *tokens_before = NULL;
    Py_ssize_t alive = 0;
    memset(slots, 0xff, sizeof slots);
    for (Py_ssize_t state = 0; state < l->states; state++)
        if (l->start[state] > 0) {
            l->blank[state] = l->start[state];
            l->alive[alive++] = (uint16_t)state;
        }
    for (;; step++) {
        int apart = step == end || l->gaps[step] > 1;
        Py_ssize_t kept = 0;
        for (Py_ssize_t place = 0; place < alive; place++) {
            uint16_t state = l->alive[place];
            const double *inside = l->before + (size_t)state * l->most;
            double total = l->blank[state];
            for (int other = 0; other < count_before; other++)
                total += inside[other];
            l->total[state] = total;
            if (total >= l->faintest)
                l->alive[kept++] = state;
        }
        alive = kept;
        if (apart) {
            for (int other = 0; other < count_before; other++)
                slots[tokens_before[other]] = NONE;
            count_before = 0;
        }
        if (step == end)
            return alive;
        int count = l->counts[step];
        const uint8_t *tokens = l->tokens + entry, *levels = l->levels + entry;
        Py_ssize_t reached = 0;
        entry += count;
        l->mark++;
        for (Py_ssize_t place = 0; place < alive; place++)
            reach(l, &reached, l->alive[place], count);
        double rest = 1;
        for (int which = 0; which < count; which++) {
            double chance = l->values[levels[which]];
            const uint16_t *after = l->after + (size_t)l->class_of[tokens[which]] * (size_t)l->states;
            int slot = slots[tokens[which]];
            rest -= chance;
            for (Py_ssize_t place = 0; place < alive; place++) {
                uint16_t state = l->alive[place], to = after[state];
                double stay = slot == NONE ? 0 : l->before[(size_t)state * l->most + (size_t)slot];
                reach(l, &reached, to, count);
                l->now[(size_t)state * l->most + (size_t)which] += chance * stay;
                l->now[(size_t)to * l->most + (size_t)which] += chance * (l->total[state] - stay);
            }
        }
        rest = rest > 0 ? rest : 0;
        for (Py_ssize_t place = 0; place < alive; place++)
            l->next[l->alive[place]] = rest * l->total[l->alive[place]];
        for (int other = 0; other < count_before; other++)
            slots[tokens_before[other]] = NONE;
        for (int which = 0; which < count; which++)
            slots[tokens[which]] = (int16_t)which;
        count_before = count;
        tokens_before = tokens;
        double *masses = l->before;
        l->before = l->now;
        l->now = masses;
        masses = l->blank;
        l->blank = l->next;
        l->next = masses;
        uint16_t *states = l->alive;
        l->alive = l->reached;
        l->reached = states;
        alive = reached;
    }
}

/* Masses after the end of a line, in `ends`. */
static void cross_end(Lines *l, Py_ssize_t alive)
{
    memset(l->ends, 0, (size_t)l->states * sizeof(double));
    for (Py_ssize_t place = 0; place < alive; place++)
        l->ends[l->breaks[l->alive[place]]] += l->total[l->alive[place]];
}

/* Masses after a step: each stays, or comes from the previous place with the probability of its letter. */
static void advance_places(const float *restrict masses, float *restrict after, const float *restrict chances,
                           const uint8_t *restrict kinds, float stays, int places)
{
    for (int block = 0; block < places; block += 8)
        for (int place = block; place < block + 8; place++) {
            float chance = chances[kinds[place]];
            after[place] = masses[place] * (stays + chance) + masses[place - 1] * chance + FLAT;
        }
}

/* An upper bound for the probability that a line contains the letters of a piece, or begins them before a hyphen. It
   treats tokens as letters, and any state before a sign as certain. Most lines need no more than this. */
static double bound_of(const Lines *l, const struct Piece *piece, Py_ssize_t step, Py_ssize_t end, Py_ssize_t entry)
{
    /* Masses of a boundary, in place 0, and of each number of letters after it; the place before is always 0. */
    float rooms[2][LONGEST_WORD + 16], chances[256] = {0};
    float *masses = rooms[0] + 1, *after = rooms[1] + 1;
    int letters = piece->letters, places = letters / 8 * 8 + 8;
    double had = 0, over = 0;
    for (int place = -1; place < places; place++)
        masses[place] = 0;
    after[-1] = 0;
    masses[0] = 1;
    for (; step < end; step++) {
        int count = l->counts[step];
        const uint8_t *kinds = l->kinds_read + entry, *levels = l->levels + entry;
        float sum = 0;
        for (int which = 0; which < count; which++) {
            float value = l->floats[levels[which]];
            chances[kinds[which]] += value;
            sum += value;
        }
        if (chances[SEVERAL] > 0)
            return 1;
        float hyphens = chances[HYPHENS], signs = chances[SIGNS] + hyphens, pair = chances[PAIR];
        float rest = 1 - sum + chances[MARK];
        rest = rest > 0 ? rest : 0;
        chances[ANYTHING] = sum - chances[MARK] - signs;
        over *= rest + signs;
        if (hyphens > 0) {
            float begun = piece->open_begin ? masses[0] : 0;
            for (int place = 1; place <= letters; place++)
                begun += masses[place];
            over += begun * hyphens;
        }
        if (piece->open_end)
            had += masses[letters - 1] * (chances[piece->kinds[letters]] + pair) +
                   (letters > 1 ? masses[letters - 2] * pair : 0);
        else
            had += masses[letters] * signs;
        if (had >= l->least)
            return 1;
        advance_places(masses, after, chances, piece->kinds, rest + pair, places);
        if (pair > 0) {
            after[1] += piece->open_begin ? pair : 0;
            for (int place = 2; place <= letters; place++)
                after[place] += masses[place - 2] * pair;
        }
        after[0] = piece->open_begin ? 1 : masses[0] * rest + signs;
        for (int which = 0; which < count; which++)
            chances[kinds[which]] = 0;
        entry += count;
        float *before = masses;
        masses = after;
        after = before;
    }
    return had + (piece->open_end ? 0 : masses[letters]) + over;
}

/* Whether a line may contain the pattern, or begin it. */
static int may_have(const Lines *l, Py_ssize_t step, Py_ssize_t end, Py_ssize_t entry)
{
    double bound = l->pieces ? 0 : 1;
    for (int piece = 0; piece < l->pieces && bound < l->least; piece++)
        bound += bound_of(l, &l->piece[piece], step, end, entry) * 1.001; /* margin for rounding of floats */
    return bound >= l->least;
}

static void find_on_lines(Lines *l, double *found)
{
    Py_ssize_t step = 0, entry = 0;
    for (Py_ssize_t line = 0; line < l->lines; line++) {
        Py_ssize_t end = step + l->sizes[line], next = entry;
        for (Py_ssize_t s = step; s < end; s++)
            next += l->counts[s];
        found[2 * line] = found[2 * line + 1] = 0;
        if (may_have(l, step, end, entry)) {
            memset(l->start, 0, (size_t)l->states * sizeof(double));
            l->start[0] = 1;
            cross_end(l, walk(l, step, end, entry));
            found[2 * line] = l->ends[l->found];
            l->ends[l->found] = l->ends[l->dead] = 0;
            double over = 0;
            for (Py_ssize_t state = 0; state < l->states; state++)
                over += l->ends[state];
            if (line + 1 < l->lines && over > l->faintest) {
                memcpy(l->start, l->ends, (size_t)l->states * sizeof(double));
                cross_end(l, walk(l, end, end + l->sizes[line + 1], next));
                found[2 * line + 1] = l->ends[l->found];
            }
            for (int where = 0; where < 2; where++)
                if (found[2 * line + where] < l->least)
                    found[2 * line + where] = 0;
        }
        step = end;
        entry = next;
    }
}

/* Parse pieces: number of letters, whether begin and end are open, and kinds. 0 if invalid. */
static int take_pieces(Lines *l, struct Piece *pieces, const uint8_t *from, Py_ssize_t length)
{
    l->piece = pieces;
    for (l->pieces = 0; length > 0; l->pieces++) {
        if (l->pieces == MOST_PIECES || length < 4 || !from[0] || from[0] > LONGEST_WORD || length < from[0] + 3)
            return 0;
        struct Piece *piece = &pieces[l->pieces];
        *piece = (struct Piece){.letters = from[0], .open_begin = from[1], .open_end = from[2]};
        memset(piece->kinds, NO_KIND, sizeof piece->kinds);
        memcpy(piece->kinds + 1, from + 3, from[0]);
        length -= piece->letters + 3;
        from += piece->letters + 3;
    }
    return 1;
}

/* Unpack gap and count of each step from the halves of a byte. */
static void unpack_steps(Lines *l, const uint8_t *packed)
{
    for (Py_ssize_t step = 0; step < l->steps; step++) {
        l->gaps[step] = packed[step] >> 4;
        l->counts[step] = packed[step] & 15;
        l->entries += l->counts[step];
        l->most = l->counts[step] > l->most ? l->counts[step] : l->most;
    }
}

/* Unpack entries: a token in `bits` bits, its level in `LEVEL_BITS` bits above, no gaps. 0 if a token is invalid. */
static int unpack_entries(Lines *l, const uint8_t *packed, const uint8_t *end, int bits)
{
    uint64_t held = 0;
    int count = 0, fits = 1;
    for (Py_ssize_t entry = 0; entry < l->entries; entry++) {
        if (count < bits + LEVEL_BITS)
            for (; count <= 56 && packed < end; count += 8)
                held |= (uint64_t)*packed++ << count;
        uint8_t token = (uint8_t)(held & ((1u << bits) - 1));
        fits &= token < l->texts;
        l->tokens[entry] = token;
        l->kinds_read[entry] = token < l->texts ? l->kinds[token] : 0;
        l->levels[entry] = held >> bits & (LEVELS - 1);
        held >>= bits + LEVEL_BITS;
        count -= bits + LEVEL_BITS;
    }
    return fits;
}

/* Whether all states in the arrays exist. */
static int is_automaton(const Lines *l)
{
    int fits = 0 <= l->found && l->found < l->states && 0 <= l->dead && l->dead < l->states;
    for (Py_ssize_t state = 0; fits && state < l->states; state++)
        fits = l->breaks[state] < l->states;
    for (Py_ssize_t kind = 0; fits && kind < l->classes; kind++)
        for (Py_ssize_t state = 0; fits && state < l->states; state++)
            fits = l->after[kind * l->states + state] < l->states;
    return fits;
}

/* The parts of a page packed by `PackedLines`: their 32-bit lengths, the step widths of lines, the numbers of steps of
   lines, steps, entries, texts. */
typedef struct {
    const uint8_t *content, *class_of;
    Py_ssize_t length, texts;
} Packed;

#define LENGTHS 4

/* Find the steps and entries of a page; 0 if its lengths or classes are inconsistent. */
static int take_page(Lines *l, const Packed *page, const uint8_t *kinds, const uint8_t **steps, const uint8_t **entries,
                     Py_ssize_t *entry_bytes)
{
    uint32_t lengths[LENGTHS];
    if (page->length < (Py_ssize_t)sizeof lengths || page->texts > 256 || (uintptr_t)page->content % 2)
        return 0;
    memcpy(lengths, page->content, sizeof lengths);
    Py_ssize_t head = sizeof lengths + 4 * (Py_ssize_t)lengths[0], total = 0;
    if (page->length != head + 2 * (Py_ssize_t)lengths[0] + lengths[1] + lengths[2] + lengths[3])
        return 0;
    l->lines = lengths[0];
    l->steps = lengths[1];
    l->texts = page->texts;
    l->class_of = page->class_of;
    l->sizes = (const uint16_t *)(page->content + head);
    *steps = page->content + head + 2 * l->lines;
    *entries = *steps + l->steps;
    *entry_bytes = lengths[2];
    for (Py_ssize_t line = 0; line < l->lines; line++)
        total += l->sizes[line];
    for (Py_ssize_t text = 0; text < l->texts; text++) {
        if (l->class_of[text] >= l->classes)
            return 0;
        l->kinds[text] = kinds[l->class_of[text]];
    }
    return total == l->steps;
}

/* The number of bits that number the texts. */
static int token_bits(Py_ssize_t texts)
{
    int bits = 0;
    while (texts > (Py_ssize_t)1 << bits)
        bits++;
    return bits;
}

/* Compute the probabilities of the lines of a page; 0 if it is damaged, -1 if out of memory. */
static int search_page(Lines *l, const uint8_t *steps, const uint8_t *entries, Py_ssize_t entry_bytes, double *found)
{
    uint8_t *of_steps = malloc(2 * (size_t)l->steps + 1);
    if (!of_steps)
        return -1;
    int bits = token_bits(l->texts);
    l->gaps = of_steps;
    l->counts = of_steps + l->steps;
    l->entries = 0;
    l->most = 1;
    unpack_steps(l, steps);
    int fits = entry_bytes == (l->entries * (bits + LEVEL_BITS) + 7) / 8;
    size_t states = (size_t)l->states;
    uint8_t *of_entries = fits ? malloc(3 * (size_t)l->entries + 1) : NULL;
    double *room = fits ? malloc(states * (5 + 2 * l->most) * sizeof(double) + 1) : NULL;
    uint16_t *lists = fits ? malloc(2 * states * sizeof(uint16_t) + 1) : NULL;
    l->marks = fits ? calloc(states + 1, sizeof(uint32_t)) : NULL;
    int done = of_entries && room && lists && l->marks;
    if (done) {
        l->tokens = of_entries;
        l->levels = l->tokens + l->entries;
        l->kinds_read = l->levels + l->entries;
        fits = unpack_entries(l, entries, entries + entry_bytes, bits);
    }
    if (done && fits) {
        l->blank = room;
        l->next = l->blank + states;
        l->total = l->next + states;
        l->start = l->total + states;
        l->ends = l->start + states;
        l->before = l->ends + states;
        l->now = l->before + l->most * states;
        l->alive = lists;
        l->reached = lists + states;
        l->mark = 0;
        find_on_lines(l, found);
    }
    free(of_steps);
    free(of_entries);
    free(room);
    free(lists);
    free(l->marks);
    return !fits ? 0 : done ? 1 : -1;
}

/* Compute the probabilities of the lines of pages, `most` lines in total; 0 if damaged or inconsistent, -1 if out of
   memory. */
static int search_pages(Lines *l, const Packed *pages, Py_ssize_t count, const uint8_t *kinds, double *found,
                        Py_ssize_t most)
{
    int done = 1;
    for (int level = 0; level < LEVELS; level++)
        l->floats[level] = (float)l->values[level];
    for (Py_ssize_t page = 0; page < count && done > 0; page++) {
        const uint8_t *steps, *entries;
        Py_ssize_t entry_bytes;
        if (!take_page(l, &pages[page], kinds, &steps, &entries, &entry_bytes) || l->lines > most)
            return 0;
        done = search_page(l, steps, entries, entry_bytes, found);
        found += 2 * l->lines;
        most -= l->lines;
    }
    return done > 0 && most ? 0 : done;
}

/* Pages from two sequences of bytes; NULL and an exception if invalid. The result must be freed. */
static Packed *take_pages(PyObject *contents, PyObject *classes)
{
    Py_ssize_t count = PyTuple_Size(contents);
    char *content, *class_of;
    if (count != PyTuple_Size(classes))
        return (Packed *)refused("each page has its content and its classes");
    Packed *pages = malloc((size_t)count * sizeof(Packed) + 1);
    for (Py_ssize_t page = 0; pages && page < count; page++) {
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(contents, page), &content, &pages[page].length) < 0 ||
            PyBytes_AsStringAndSize(PyTuple_GetItem(classes, page), &class_of, &pages[page].texts) < 0) {
            free(pages);
            return NULL;
        }
        pages[page].content = (const uint8_t *)content;
        pages[page].class_of = (const uint8_t *)class_of;
    }
    return pages ? pages : (Packed *)PyErr_NoMemory();
}

/* word_on_pages(contents, classes of their texts, after, kinds of classes, breaks, values, pieces, found, dead, faintest,
   least, probabilities): fills the last, (lines of all pages, 2). */
static PyObject *word_on_pages(PyObject *self, PyObject *args)
{
    PyObject *contents, *classes;
    Py_buffer b[6];
    Lines l;
    struct Piece pieces[MOST_PIECES];
    int done = 0;
    if (!PyArg_ParseTuple(args, "OOy*y*y*y*y*nnddw*", &contents, &classes, &b[0], &b[1], &b[2], &b[3], &b[4], &l.found,
                          &l.dead, &l.faintest, &l.least, &b[5]))
        return NULL;
    l.states = b[2].len / 2;
    l.classes = l.states ? b[0].len / (2 * l.states) : 0;
    l.after = b[0].buf;
    l.breaks = b[2].buf;
    l.values = b[3].buf;
    int fits = is_array(&b[2], l.states, 2) && l.states <= UINT16_MAX && is_array(&b[0], l.classes * l.states, 2) &&
               b[1].len == l.classes && is_array(&b[3], LEVELS, 8) && is_array(&b[5], b[5].len / 16 * 2, 8) &&
               take_pieces(&l, pieces, b[4].buf, b[4].len) && is_automaton(&l);
    contents = fits ? PySequence_Tuple(contents) : NULL;
    classes = contents ? PySequence_Tuple(classes) : NULL;
    Packed *packed = classes ? take_pages(contents, classes) : NULL;
    if (packed) {
        Py_ssize_t count = PyTuple_Size(contents);
        Py_BEGIN_ALLOW_THREADS;
        done = search_pages(&l, packed, count, b[1].buf, b[5].buf, b[5].len / 16);
        Py_END_ALLOW_THREADS;
    }
    free(packed);
    Py_XDECREF(contents);
    Py_XDECREF(classes);
    release(b, 6);
    if (PyErr_Occurred())
        return NULL;
    if (!done)
        return refused("the arrays are not of such pages and one automaton");
    return done > 0 ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyMethodDef functions[] = {
    {"prefix_search", prefix_search, METH_VARARGS, NULL},
    {"log_probability", log_probability, METH_VARARGS, NULL},
    {"numbers", numbers, METH_VARARGS, NULL},
    {"longer", longer, METH_VARARGS, NULL},
    {"earlier", earlier, METH_VARARGS, NULL},
    {"whole", whole, METH_VARARGS, NULL},
    {"viterbi", viterbi, METH_VARARGS, NULL},
    {"word_on_pages", word_on_pages, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "drethtr.base._native", .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module); }

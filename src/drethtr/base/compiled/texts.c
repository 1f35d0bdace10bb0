/* Inner loops of CTC search and n-grams.

   The Python versions beside the callers define the results: recognition/decoding/ctc_search.py, recognition/decoding/
   ctc_paths.py and language/ngrams.py. tests/base/test_native.py checks that both agree. */
#include "shared.h"

/* log(exp(a) + exp(b)); a term e^40 times smaller would not change the result. */
static double log_add(double a, double b)
{
    double high = a < b ? b : a, low = a < b ? a : b;
    return low - high > -40 ? high + log1p(exp(low - high)) : high; /* false for the NaN of twice -infinity */
}

/* ---- N-grams: language/ngrams.py describes the tree ---- */

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
    int32_t nodes[NGRAMS_MAX_ORDER];
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
    int fits = 1 <= ngrams->order && ngrams->order <= NGRAMS_MAX_ORDER && 1 <= contexts && contexts <= nodes &&
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
            return NGRAMS_STEP * (lost - ngrams->losses[longer]);
        if (node >= 0 && node < ngrams->contexts)
            lost += ngrams->backoffs[node];
    }
    return NGRAMS_STEP * lost + NGRAMS_FAINTEST;
}

typedef struct {
    const int32_t *tokens;
    Py_ssize_t length;
} Text;

/* The state before each token of a text, and the log-probability of the tokens before it, the first left out. */
static void score_base(const NGrams *ngrams, const Text *base, State *states, double *sums)
{
    states[0] = nowhere(ngrams);
    sums[0] = 0;
    for (Py_ssize_t place = 0; place < base->length; place++) {
        sums[place + 1] = sums[place] + (place ? next_token(ngrams, &states[place], base->tokens[place]) : 0);
        states[place + 1] = state_after(ngrams, &states[place], base->tokens[place]);
    }
}

/* The log-probability of a text like a base: what both share at either end is not computed again. A token of their common
   end is as likely in both if no n-gram reaches back to where they differ. Sums of n-grams are exact in any order. */
static double score_like(const NGrams *ngrams, const Text *text, const Text *base, const State *states,
                         const double *sums)
{
    Py_ssize_t shorter = text->length < base->length ? text->length : base->length, first = 0, last = 0;
    while (first < shorter && text->tokens[first] == base->tokens[first])
        first++;
    while (last < shorter - first && text->tokens[text->length - 1 - last] == base->tokens[base->length - 1 - last])
        last++;
    last = last < ngrams->order ? 0 : last - ngrams->order + 1;
    State state = states[first];
    double total = sums[first] + sums[base->length] - sums[base->length - last];
    for (Py_ssize_t place = first; place < text->length - last; place++) {
        total += place ? next_token(ngrams, &state, text->tokens[place]) : 0;
        state = state_after(ngrams, &state, text->tokens[place]);
    }
    return total;
}

/* log_probabilities(texts, tables, found (texts, tables)): see log_probabilities in language/ngrams.py. */
PyObject *log_probabilities(PyObject *self, PyObject *args)
{
    PyObject *lines, *tables;
    Py_buffer found;
    if (!PyArg_ParseTuple(args, "O!O!w*", &PyTuple_Type, &lines, &PyTuple_Type, &tables, &found))
        return NULL;
    Py_ssize_t count = PyTuple_Size(lines), models = PyTuple_Size(tables), taken = 0, longest = 0;
    Py_buffer *buffers = calloc((size_t)count + 1, sizeof *buffers);
    Text *texts = calloc((size_t)count + 1, sizeof *texts);
    int fits = buffers && texts && (!models || is_array(&found, count * models, 8));
    if (!buffers || !texts)
        PyErr_NoMemory();
    for (; fits && taken < count; taken++) {
        if (PyObject_GetBuffer(PyTuple_GetItem(lines, taken), &buffers[taken], PyBUF_SIMPLE) < 0)
            break;
        texts[taken] = (Text){buffers[taken].buf, buffers[taken].len / 4};
        fits = is_array(&buffers[taken], texts[taken].length, 4);
        longest = texts[taken].length > longest ? texts[taken].length : longest;
    }
    fits = fits && taken == count;
    /* Of the first text alone, with which all others are compared. */
    State *states = fits ? malloc(((size_t)longest + 1) * sizeof *states) : NULL;
    double *sums = fits ? malloc(((size_t)longest + 1) * sizeof *sums) : NULL;
    if (fits && (!states || !sums)) {
        PyErr_NoMemory();
        fits = 0;
    }
    for (Py_ssize_t model = 0; fits && count && model < models; model++) {
        NGrams ngrams;
        if (!(fits = take_ngrams(PyTuple_GetItem(tables, model), &ngrams)))
            break;
        double *own = (double *)found.buf + model;
        Py_BEGIN_ALLOW_THREADS;
        score_base(&ngrams, &texts[0], states, sums);
        for (Py_ssize_t text = 0; text < count; text++)
            own[text * models] = score_like(&ngrams, &texts[text], &texts[0], states, sums);
        Py_END_ALLOW_THREADS;
        release_ngrams(&ngrams);
    }
    if (buffers)
        release(buffers, (int)taken);
    PyBuffer_Release(&found);
    free(buffers);
    free(texts);
    free(states);
    free(sums);
    if (fits)
        return Py_NewRef(Py_None);
    return PyErr_Occurred() ? NULL : refused("texts are 32-bit integers, with a place for each and each table");
}

/* surprises(tokens, table, found): the negative log-probability of each token after the first. */
PyObject *surprises(PyObject *self, PyObject *args)
{
    Py_buffer buffers[2];
    PyObject *table;
    NGrams ngrams;
    if (!PyArg_ParseTuple(args, "y*O!w*", &buffers[0], &PyTuple_Type, &table, &buffers[1]))
        return NULL;
    Py_ssize_t length = buffers[0].len / 4;
    int fits = length && is_array(&buffers[0], length, 4) && is_array(&buffers[1], length - 1, 8);
    if (!fits || !take_ngrams(table, &ngrams)) {
        release(buffers, 2);
        return PyErr_Occurred() ? NULL : refused("tokens are 32-bit integers, with a place for each but the first");
    }
    const int32_t *tokens = buffers[0].buf;
    double *found = buffers[1].buf;
    Py_BEGIN_ALLOW_THREADS;
    State nothing = nowhere(&ngrams), state = state_after(&ngrams, &nothing, tokens[0]);
    for (Py_ssize_t place = 1; place < length; place++) {
        found[place - 1] = -next_token(&ngrams, &state, tokens[place]);
        state = state_after(&ngrams, &state, tokens[place]);
    }
    Py_END_ALLOW_THREADS;
    release_ngrams(&ngrams);
    release(buffers, 2);
    return Py_NewRef(Py_None);
}

/* ---- Prefix search: see prefix_search_in_python in recognition/decoding/ctc_search.py ---- */

#define MAX_BEAMS (1 << 20)
#define REMEMBERED (1 << 10) /* several times the beams times the tokens of a step; small enough for the L1 cache */

typedef struct {
    double in_blank, in_token, total;
} Mass;

static const Mass OUT_OF_RACE = {NEVER, NEVER, NEVER};

/* A prefix of a text: its last token, the prefix without that token, the first child and the next sibling; NONE where
   there is none. */
typedef struct {
    int32_t token, before, longer, sibling;
    Mass mass;
    double language_score;
    int placed; /* whether the state is known */
    State state;
} Prefix;

/* The cached language score of a prefix extended by a token, since the same ones recur from step to step. */
typedef struct {
    int32_t prefix, token;
    double language_score;
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

static double score_of(const Prefix *prefix) { return prefix->mass.total + prefix->language_score; }

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

static int32_t new_prefix(Search *search, int32_t token, int32_t before, double language_score)
{
    /* The array may move: this invalidates pointers to prefixes, but not their indices. */
    if (search->count == INT32_MAX ||
        !make_room((void **)&search->prefixes, &search->room, (size_t)search->count, sizeof(Prefix)))
        return NONE;
    Prefix *prefix = &search->prefixes[search->count];
    *prefix = (Prefix){.token = token, .before = before, .longer = NONE, .sibling = NONE, .mass = OUT_OF_RACE};
    prefix->language_score = language_score;
    if (before != NONE) {
        prefix->sibling = search->prefixes[before].longer;
        search->prefixes[before].longer = search->count;
    }
    return search->count++;
}

/* Children are a list, not a table: a prefix seldom has more than `tokens_per_step` of them. */
static int32_t find_longer(const Search *search, int32_t prefix, int32_t token)
{
    int32_t longer = search->prefixes[prefix].longer;
    while (longer != NONE && search->prefixes[longer].token != token)
        longer = search->prefixes[longer].sibling;
    return longer;
}

/* The n-grams' weighted score of the tokens of a prefix and one more. */
static double language_score_with(Search *search, int32_t number, int32_t token)
{
    Prefix *prefix = &search->prefixes[number];
    if (!search->ngrams)
        return prefix->language_score;
    /* Direct-mapped, without probing: a collision only costs time. */
    Remembered *slot = &search->remembered[((uint32_t)number * 31u + (uint32_t)token) % REMEMBERED];
    if (slot->prefix == number && slot->token == token)
        return slot->language_score;
    if (!prefix->placed) {
        /* A prefix is created after it was scored, so the state of its parent is known. */
        prefix->state = state_after(search->ngrams, &search->prefixes[prefix->before].state, prefix->token);
        prefix->placed = 1;
    }
    double extra = token == search->end ? 0.0 : search->per_token;
    double gain = search->weight * (next_token(search->ngrams, &prefix->state, token) + extra);
    *slot = (Remembered){number, token, prefix->language_score + gain};
    return slot->language_score;
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

/* Advance the active prefixes by one step; 0 if out of memory.

   The order matters. First every active prefix stays: what its parent adds to it is counted here, so that a child that
   is active already must not be grown again below. These scores fill a heap of the best `beams` so far. Only then do
   prefixes grow, and each must beat the least of the heap, which rises as they do; so most are dropped before their
   language score is computed. The old masses are needed until all prefixes have grown, and replaced after that. */
static int advance(Search *search, const float *row)
{
    double *leaders = search->leaders, best = NEVER;
    double most = search->ngrams ? search->weight * search->per_token : 0.0;
    find_gains(search, row);
    for (Py_ssize_t rank = 0; rank < search->kept_count; rank++) {
        const Prefix *prefix = &search->prefixes[search->kept[rank]];
        search->stays[rank] = stay(search, prefix, row);
        double score = search->stays[rank].total + prefix->language_score;
        best = best < score ? score : best;
    }
    /* The best scores so far; a prefix must beat the least of them to stay active. */
    double floor = best - search->margin;
    for (Py_ssize_t place = 0; place < search->beams; place++)
        leaders[place] = floor;
    for (Py_ssize_t rank = 0; rank < search->kept_count; rank++) {
        double score = search->stays[rank].total + search->prefixes[search->kept[rank]].language_score;
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
            /* Gains fall from here on, and no language score exceeds `most`: no later token can do better. */
            if (score_of(prefix) + gain + most <= leaders[0])
                break;
            double made = gain + (prefix->token == token ? prefix->mass.in_blank : prefix->mass.total);
            /* An active child has already received this mass in `stay`. */
            int32_t longer = find_longer(search, number, token);
            if (longer != NONE && search->prefixes[longer].mass.total > NEVER)
                continue;
            double score = made + language_score_with(search, number, token);
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
            continue; /* it was among the leaders when it grew, and others have passed it since */
        int32_t longer = find_longer(search, one->before, one->token);
        if (longer == NONE)
            longer = new_prefix(search, one->token, one->before, language_score_with(search, one->before, one->token));
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
        else /* it keeps its place in the tree, so that its language state is there if it comes back */
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
            int sure = at(row, search->blank) > CTC_SEARCH_SURE;
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
        Ranked one = {search->prefixes[number].mass.total + language_score_with(search, number, search->end), number};
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

PyObject *prefix_search(PyObject *self, PyObject *args)
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
               search->beams <= MAX_BEAMS && 1 <= search->tokens_per_step && search->margin >= 0 &&
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

/* ---- Sums over all paths of a text: see Paths in recognition/decoding/ctc_paths.py ---- */

/* Logarithms would be slow to add, and plain doubles would underflow: a probability is mantissa * 2^(256 * exponent),
   with the mantissa in (2^-256, 1] or slightly above. Arrays of them are (..., 2) doubles. */
typedef struct {
    double mantissa, exponent;
} Number;

static const Number ZERO = {0.0, NEVER};

#define SCALE 1.157920892373162e77 /* 2^256; not every compiler knows 0x1p256 */
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
    /* Two exponents apart, the lower number is far below the last bit of the higher one. */
    else if (high.exponent == low.exponent + 1)
        high.mantissa += low.mantissa / SCALE;
    return high;
}

static Number multiply(Number a, Number b)
{
    Number product = {a.mantissa * b.mantissa, a.exponent + b.exponent};
    /* Both mantissas are above 2^-256, so that their product is above 2^-512, and one step up is enough. */
    if (product.mantissa < 1 / SCALE && product.mantissa > 0) {
        product.mantissa *= SCALE;
        product.exponent--;
    }
    return product;
}

/* numbers(logarithms, numbers): fills `numbers`. */
PyObject *numbers(PyObject *self, PyObject *args)
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
PyObject *longer(PyObject *self, PyObject *args)
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
PyObject *earlier(PyObject *self, PyObject *args)
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
PyObject *whole(PyObject *self, PyObject *args)
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

/* ---- The most probable path of a text: see viterbi in recognition/decoding/ctc_search.py ---- */

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
        /* From the last label down: the scores of the labels before it are then still those of the step before. */
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
PyObject *viterbi(PyObject *self, PyObject *args)
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

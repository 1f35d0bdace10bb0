/* The inner loop of keyword search.

   The Python version in search/forward.py defines the results; tests/base/test_native.py checks that both agree. */
#include "shared.h"

/* ---- A pattern on the lines of a page: see probabilities_in_python in search/forward.py ---- */

#define LEVELS (1 << PACKED_LEVEL_BITS)

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

/* The kinds of texts are numbered in search/automaton.py: AUTOMATON_MARK etc. */

#define MAX_PIECES 8
#define FLAT 1e-30f /* keeps products out of the slow denormal range */

#define NO_KIND 250

/* Consecutive letters that every match of a pattern contains. */
struct Piece {
    int letters, open_begin, open_end; /* whether others may precede or follow them in their word */
    uint8_t kinds[QUERY_MAX_LETTERS + 16];  /* kinds of letters, counted from 1 */
};

/* Enter a state that has no mass at this step yet. States are marked with the number of the step, not with a flag, so
   that nothing has to be cleared between steps: few states are ever reached. */
static void reach(Lines *l, Py_ssize_t *count, uint16_t state, int entries)
{
    if (l->marks[state] == l->mark)
        return;
    l->marks[state] = l->mark;
    l->reached[(*count)++] = state;
    l->next[state] = 0;
    memset(l->now + (size_t)state * l->most, 0, (size_t)entries * sizeof(double));
}

/* Masses after the last letter of a line, in `total` of the states in `alive`; returns the number of these.

   This is the forward algorithm of CTC over the product of line and automaton. A mass is split by what the last step
   was: `blank`, or `before` for each token of that step. The split is needed because the same token twice in a row is
   one letter: it stays in its state, while any other mass moves on to the state after the letter. */
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
        int apart = step == end || l->gaps[step] > 1; /* blank steps were left out: a token after them is a new letter */
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
static void advance_places(const float *__restrict masses, float *__restrict after, const float *__restrict chances,
                           const uint8_t *__restrict kinds, float stays, int places)
{
    for (int block = 0; block < places; block += 8)
        for (int place = block; place < block + 8; place++) {
            float chance = chances[kinds[place]];
            after[place] = masses[place] * (stays + chance) + masses[place - 1] * chance + FLAT;
        }
}

/* An upper bound for the probability that a line contains the letters of a piece, or begins them before a hyphen. Most
   lines need no more than this.

   It is a bound since it may count a letter twice but never misses one: a repeated token counts as a repeated letter
   (`advance_places` lets a mass stay and move on with the same probability), a token of two letters may do anything
   that either could, and any state before a sign counts as certain. So lines are skipped without loss. */
static double bound_of(const Lines *l, const struct Piece *piece, Py_ssize_t step, Py_ssize_t end, Py_ssize_t entry)
{
    /* Masses of a boundary, in place 0, and of each number of letters after it; the place before is always 0. */
    float rooms[2][QUERY_MAX_LETTERS + 16], chances[256] = {0};
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
        if (chances[AUTOMATON_SEVERAL] > 0)
            return 1;
        float hyphens = chances[AUTOMATON_BROKEN], signs = chances[AUTOMATON_BOUNDARY] + hyphens, pair = chances[AUTOMATON_PAIR];
        float rest = 1 - sum + chances[AUTOMATON_MARK];
        rest = rest > 0 ? rest : 0;
        chances[AUTOMATON_OPEN] = sum - chances[AUTOMATON_MARK] - signs;
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
            return 1; /* enough for the exact computation; how much more does not matter */
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
        if (l->pieces == MAX_PIECES || length < 4 || !from[0] || from[0] > QUERY_MAX_LETTERS || length < from[0] + 3)
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

/* Unpack entries: a token in `bits` bits, its level in `PACKED_LEVEL_BITS` bits above, no gaps. 0 if a token is invalid. */
static int unpack_entries(Lines *l, const uint8_t *packed, const uint8_t *end, int bits)
{
    uint64_t held = 0;
    int count = 0, fits = 1;
    for (Py_ssize_t entry = 0; entry < l->entries; entry++) {
        if (count < bits + PACKED_LEVEL_BITS)
            for (; count <= 56 && packed < end; count += 8)
                held |= (uint64_t)*packed++ << count;
        uint8_t token = (uint8_t)(held & ((1u << bits) - 1));
        fits &= token < l->texts;
        l->tokens[entry] = token;
        l->kinds_read[entry] = token < l->texts ? l->kinds[token] : 0;
        l->levels[entry] = held >> bits & (LEVELS - 1);
        held >>= bits + PACKED_LEVEL_BITS;
        count -= bits + PACKED_LEVEL_BITS;
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
    int64_t head = sizeof lengths + 4 * (int64_t)lengths[0]; /* 64 bits, since anybody may have written it */
    Py_ssize_t total = 0;
    if (page->length != head + 2 * (int64_t)lengths[0] + lengths[1] + lengths[2] + lengths[3])
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
    int fits = entry_bytes == (l->entries * (bits + PACKED_LEVEL_BITS) + 7) / 8;
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
PyObject *word_on_pages(PyObject *self, PyObject *args)
{
    PyObject *contents, *classes;
    Py_buffer b[6];
    Lines l;
    struct Piece pieces[MAX_PIECES];
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

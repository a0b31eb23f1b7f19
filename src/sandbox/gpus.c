/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/gpus.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct gpu {
	int number;
	bool taken;
};

struct gpus {
	pthread_mutex_t lock; /* guards the field `taken` of all GPUs */
	size_t n;
	struct gpu all[];
};

/* --- the pool --------------------------------------------------------------------------------- */

struct gpus *gpus_new(const int *numbers, size_t n)
{
	struct gpus *g = xcalloc(1, sizeof(*g) + n * sizeof(*g->all));

	pthread_mutex_init(&g->lock, NULL);
	for (g->n = 0; g->n < n; g->n++)
		g->all[g->n].number = numbers[g->n];
	return g;
}

void gpus_forked(struct gpus *g)
{
	if (g)
		pthread_mutex_init(&g->lock, NULL);
}

void gpus_free(struct gpus *g)
{
	if (!g)
		return;
	pthread_mutex_destroy(&g->lock);
	free(g);
}

/* --- leases of episodes ----------------------------------------------------------------------- */

/* Moves free GPUs of the pool to a lease, unless there are too few. Returns the number of GPUs that
 * were free. */
static size_t gpus_fill(struct gpus *g, size_t wanted, struct gpu_lease *lease)
{
	size_t n_free = 0;

	pthread_mutex_lock(&g->lock);
	for (size_t i = 0; i < g->n; i++)
		n_free += !g->all[i].taken;
	for (size_t i = 0; i < g->n && n_free >= wanted && lease->n < wanted; i++) {
		if (g->all[i].taken)
			continue;
		g->all[i].taken = true;
		lease->numbers[lease->n++] = g->all[i].number;
	}
	pthread_mutex_unlock(&g->lock);
	return n_free;
}

int gpu_lease_new(struct gpus *g, size_t n, struct gpu_lease **out, struct fh_error *err)
{
	struct gpu_lease *lease;
	size_t n_free;

	if (n > (g ? g->n : 0))
		return error_say(err, EINVAL, "%zu GPUs are wanted, but the gym has %zu", n,
				g ? g->n : 0);
	if (!n) {
		*out = NULL;
		return 0;
	}
	lease = xcalloc(1, sizeof(*lease) + n * sizeof(*lease->numbers));
	lease->pool = g;
	n_free = gpus_fill(g, n, lease);
	if (lease->n < n) {
		free(lease);
		return error_say(err, EBUSY,
				"%zu GPUs are wanted, but only %zu of the gym's are free", n,
				n_free);
	}
	*out = lease;
	return 0;
}

void gpu_lease_free(struct gpu_lease *lease)
{
	if (!lease)
		return;
	pthread_mutex_lock(&lease->pool->lock);
	for (size_t i = 0; i < lease->pool->n; i++)
		for (size_t k = 0; k < lease->n; k++)
			if (lease->pool->all[i].number == lease->numbers[k])
				lease->pool->all[i].taken = false;
	pthread_mutex_unlock(&lease->pool->lock);
	free(lease);
}

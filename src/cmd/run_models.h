/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CMD_RUN_MODELS_H
#define CMD_RUN_MODELS_H

#include "run/episode.h"

/* Tells which properties of the model differ between the episodes of a run. */
struct run_models {
	bool several; /* at least one of the next three differs */
	bool models, agents, temperatures;
};

struct run_models run_models_of(const struct episode *episodes, size_t n);

/*
 * Name of an episode's model: "baseline", "openai:m (memory, t 0.5)". Agent and temperature are
 * left out if all are equal. "" if all episodes have the same model. A heap string.
 */
char *run_model_name(const struct run_models *models, const struct episode *e);

#endif

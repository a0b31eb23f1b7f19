/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENV_WORDS_H
#define ENV_WORDS_H

/*
 * Beginnings of our sentences in observations. Clients find scores and ends by them. The
 * comparison of a replay with its record uses them too.
 */
#define WORDS_SCORED "Scored a valid submission artefact at "
#define WORDS_NOT_SCORED "Not scored: "
#define WORDS_BASELINE "Baseline Score: "
#define WORDS_EVALUATION "Evaluation Score: "
#define WORDS_EXITED "Exited ("
#define WORDS_TIMEOUT "(The command was still running after "
#define WORDS_NO_COMMAND "(Nothing was run: this does not parse"
#define WORDS_NO_EDIT "Nothing was run: `"

#endif

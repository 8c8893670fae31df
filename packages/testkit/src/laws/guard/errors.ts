import assert from 'node:assert/strict'
import { type GuardLaw, guardLawsOf, rejectionOf, shown } from '../guard-trial.js'

/** The common part of two errors of one cause: each attempt makes its own error. */
function contentOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, code, statusCode } = error as Error & { code?: unknown; statusCode?: unknown }
  return { kind: error.constructor.name, name, message, code, statusCode }
}

/**
 * A failed write may have moved the fence, but to its own token at most: that token was granted, so that all smaller ones
 * are old. A guard whose write can take effect in part, such as one that runs any code, has to move it.
 */
export const guardErrorLaws: readonly GuardLaw[] = guardLawsOf('errors', ['own-errors'], {
  async "the user's own errors pass through unchanged"(trial, guard) {
    await trial.accepted(guard, 5n)
    for (const { name, guarded, unguarded } of trial.backend.ownFailures ?? []) {
      const expected = await rejectionOf(unguarded)
      assert(expected !== undefined, `${name}: it has to fail past the guard as well`)
      const error = await rejectionOf(() => guarded(guard, 5n))
      if (error !== expected) assert.deepEqual(contentOf(error), contentOf(expected), `${name}: ${shown(error)}`)
      await trial.holds('5')
    }
  },
  async 'a failed write can be repeated under its token'(trial, guard) {
    let token = 5n
    await trial.accepted(guard, token)
    for (const { guarded } of trial.backend.ownFailures ?? []) {
      token += 1n
      await rejectionOf(() => guarded(guard, token))
      await trial.accepted(guard, token)
      await trial.rejected(() => guard.write('late', token - 1n))
    }
  },
  async "an old token is rejected before the user's own part can fail"(trial, guard) {
    await trial.accepted(guard, 5n)
    for (const { guarded } of trial.backend.ownFailures ?? []) await trial.rejected(() => guarded(guard, 4n))
  },
})

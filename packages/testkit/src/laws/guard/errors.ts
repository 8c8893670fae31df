import assert from 'node:assert/strict'
import type { GuardLaw } from '../guard-trial.js'
import { rejectionOf, shown } from '../guard-trial.js'
import { lawFor } from '../law.js'

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
export const guardErrorLaws: readonly GuardLaw[] = [
  lawFor(['own-errors'], 'errors', "the user's own errors pass through unchanged", async (trial) => {
    const guard = await trial.open()
    await trial.accepted(guard, 5n)
    for (const { name, guarded, unguarded } of trial.backend.ownFailures ?? []) {
      const expected = await rejectionOf(unguarded)
      assert(expected !== undefined, `${name}: it has to fail past the guard as well`)
      const error = await rejectionOf(() => guarded(guard, 5n))
      if (error !== expected) assert.deepEqual(contentOf(error), contentOf(expected), `${name}: ${shown(error)}`)
      await trial.holds('5')
    }
  }),
  lawFor(['own-errors'], 'errors', 'a failed write can be repeated under its token', async (trial) => {
    const guard = await trial.open()
    let token = 5n
    await trial.accepted(guard, token)
    for (const { guarded } of trial.backend.ownFailures ?? []) {
      token += 1n
      await rejectionOf(() => guarded(guard, token))
      await trial.accepted(guard, token)
      await trial.rejected(() => guard.write('late', token - 1n))
    }
  }),
  lawFor(['own-errors'], 'errors', "an old token is rejected before the user's own part can fail", async (trial) => {
    const guard = await trial.open()
    await trial.accepted(guard, 5n)
    for (const { guarded } of trial.backend.ownFailures ?? []) await trial.rejected(() => guarded(guard, 4n))
  }),
]

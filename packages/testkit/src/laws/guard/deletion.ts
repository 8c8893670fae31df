import type { GuardLaw } from '../guard-trial.js'
import { lawFor } from '../law.js'

export const guardDeletionLaws: readonly GuardLaw[] = [
  lawFor(['deletion'], 'deletion', 'an old token is rejected after the resource was deleted', async (trial) => {
    const guard = await trial.open()
    await trial.accepted(guard, 5n)
    await guard.delete?.(400n)
    await trial.holds(undefined)
    for (const token of [1n, 5n, 399n]) await trial.rejected(() => guard.write('late', token))
  }),
  lawFor(['deletion'], 'deletion', 'an old token deletes nothing', async (trial) => {
    const guard = await trial.open()
    await trial.accepted(guard, 5n)
    await trial.rejected(() => guard.delete?.(4n))
    await trial.accepted(guard, 5n, 'again')
  }),
  lawFor(
    ['deletion'],
    'deletion',
    'the token that deleted, and a larger one, may write and delete again',
    async (trial) => {
      const guard = await trial.open()
      await trial.accepted(guard, 5n)
      await guard.delete?.(5n)
      await guard.delete?.(5n)
      await trial.accepted(guard, 5n)
      await guard.delete?.(6n)
      await trial.accepted(guard, 7n)
      await trial.rejected(() => guard.write('late', 6n))
    },
  ),
  lawFor(['deletion'], 'deletion', 'of a missing resource also sets the fence', async (trial) => {
    const guard = await trial.open()
    await guard.delete?.(8n)
    await trial.holds(undefined)
    await trial.rejected(() => guard.write('late', 7n))
    await trial.accepted(guard, 8n)
  }),
  lawFor(
    ['deletion', 'guards'],
    'deletion',
    'every guard of the resource knows the token that deleted',
    async (trial) => {
      const [one, other] = [await trial.open(), await trial.open()]
      await trial.accepted(one, 5n)
      await one.delete?.(6n)
      await trial.rejected(() => other.write('late', 5n))
      await trial.rejected(() => other.delete?.(5n))
    },
  ),
]

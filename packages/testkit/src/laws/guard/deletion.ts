import { type GuardLaw, guardLawsOf } from '../guard-trial.js'

export const guardDeletionLaws: readonly GuardLaw[] = [
  ...guardLawsOf('deletion', ['deletion'], {
    async 'an old token is rejected after the resource was deleted'(trial, guard) {
      await trial.accepted(guard, 5n)
      await guard.delete?.(400n)
      await trial.holds(undefined)
      for (const token of [1n, 5n, 399n]) await trial.rejected(() => guard.write('late', token))
    },
    async 'an old token deletes nothing'(trial, guard) {
      await trial.accepted(guard, 5n)
      await trial.rejected(() => guard.delete?.(4n))
      await trial.accepted(guard, 5n, 'again')
    },
    async 'the token that deleted, and a larger one, may write and delete again'(trial, guard) {
      await trial.accepted(guard, 5n)
      await guard.delete?.(5n)
      await guard.delete?.(5n)
      await trial.accepted(guard, 5n)
      await guard.delete?.(6n)
      await trial.accepted(guard, 7n)
      await trial.rejected(() => guard.write('late', 6n))
    },
    async 'of a missing resource also sets the fence'(trial, guard) {
      await guard.delete?.(8n)
      await trial.holds(undefined)
      await trial.rejected(() => guard.write('late', 7n))
      await trial.accepted(guard, 8n)
    },
  }),
  ...guardLawsOf('deletion', ['deletion', 'guards'], {
    async 'every guard of the resource knows the token that deleted'(trial, one, other) {
      await trial.accepted(one, 5n)
      await one.delete?.(6n)
      await trial.rejected(() => other.write('late', 5n))
      await trial.rejected(() => other.delete?.(5n))
    },
  }),
]

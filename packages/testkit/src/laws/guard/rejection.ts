import { type GuardLaw, guardLawsOf } from '../guard-trial.js'

export const guardRejectionLaws: readonly GuardLaw[] = [
  ...guardLawsOf('rejection', [], {
    async 'the first token may write, and so may every larger token'(trial, guard) {
      for (const token of [3n, 4n, 40n]) await trial.accepted(guard, token)
    },
    async 'an old token is rejected, and changes nothing'(trial, guard) {
      await trial.accepted(guard, 7n)
      for (const token of [6n, 0n]) await trial.rejected(() => guard.write('late', token))
    },
    async 'the same token may write again'(trial, guard) {
      for (const value of ['first', 'second', 'third']) await trial.accepted(guard, 7n, value)
    },
    async 'a rejected token does not move the fence'(trial, guard) {
      await trial.accepted(guard, 7n)
      await trial.rejected(() => guard.write('late', 3n))
      await trial.rejected(() => guard.write('late', 4n))
      await trial.accepted(guard, 7n, 'again')
      await trial.rejected(() => guard.write('late', 6n))
    },
  }),
  ...guardLawsOf('rejection', ['guards'], {
    async 'every guard of the resource knows the largest token'(trial, one, other) {
      await trial.accepted(one, 5n)
      await trial.rejected(() => other.write('late', 4n))
      await trial.accepted(other, 6n)
      await trial.rejected(() => one.write('late', 5n))
    },
    async 'a guard that is opened later knows the largest token'(trial, before) {
      await trial.accepted(before, 5n)
      await before.close?.()
      const after = await trial.open()
      await trial.rejected(() => after.write('late', 4n))
      await trial.accepted(after, 5n, 'again')
    },
  }),
  ...guardLawsOf('rejection', ['reading'], {
    async 'reading needs no token and does not move the fence'(trial, guard) {
      await trial.accepted(guard, 5n)
      await guard.read?.()
      await trial.accepted(guard, 5n, 'again')
      await trial.rejected(() => guard.write('late', 4n))
      await guard.read?.()
    },
  }),
]

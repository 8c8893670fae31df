import type { GuardLaw } from '../guard-trial.js'
import { law, lawFor } from '../law.js'

export const guardRejectionLaws: readonly GuardLaw[] = [
  law('rejection', 'the first token may write, and so may every larger token', async (trial) => {
    const guard = await trial.open()
    for (const token of [3n, 4n, 40n]) await trial.accepted(guard, token)
  }),
  law('rejection', 'an old token is rejected, and changes nothing', async (trial) => {
    const guard = await trial.open()
    await trial.accepted(guard, 7n)
    for (const token of [6n, 0n]) await trial.rejected(() => guard.write('late', token))
  }),
  law('rejection', 'the same token may write again', async (trial) => {
    const guard = await trial.open()
    for (const value of ['first', 'second', 'third']) await trial.accepted(guard, 7n, value)
  }),
  law('rejection', 'a rejected token does not move the fence', async (trial) => {
    const guard = await trial.open()
    await trial.accepted(guard, 7n)
    await trial.rejected(() => guard.write('late', 3n))
    await trial.rejected(() => guard.write('late', 4n))
    await trial.accepted(guard, 7n, 'again')
    await trial.rejected(() => guard.write('late', 6n))
  }),
  lawFor(['guards'], 'rejection', 'every guard of the resource knows the largest token', async (trial) => {
    const [one, other] = [await trial.open(), await trial.open()]
    await trial.accepted(one, 5n)
    await trial.rejected(() => other.write('late', 4n))
    await trial.accepted(other, 6n)
    await trial.rejected(() => one.write('late', 5n))
  }),
  lawFor(['guards'], 'rejection', 'a guard that is opened later knows the largest token', async (trial) => {
    const before = await trial.open()
    await trial.accepted(before, 5n)
    await before.close?.()
    const after = await trial.open()
    await trial.rejected(() => after.write('late', 4n))
    await trial.accepted(after, 5n, 'again')
  }),
  lawFor(['reading'], 'rejection', 'reading needs no token and does not move the fence', async (trial) => {
    const guard = await trial.open()
    await trial.accepted(guard, 5n)
    await guard.read?.()
    await trial.accepted(guard, 5n, 'again')
    await trial.rejected(() => guard.write('late', 4n))
    await guard.read?.()
  }),
]

import assert from 'node:assert/strict'
import { LeaseError } from '@leasehold/core'
import { type GuardLaw, guardLawsOf, rejectionOf, shown } from '../guard-trial.js'

/** Neighbours that are the same number as a double, or in another order as text. */
const neighbours: readonly (readonly [bigint, bigint])[] = [
  [9n, 10n],
  [99n, 100n],
  [2n ** 53n, 2n ** 53n + 1n],
  [1_799_999_999_999_999_999n, 1_800_000_000_000_000_000n],
  [2n ** 63n - 1n, 2n ** 63n],
  [2n ** 64n - 1n, 2n ** 64n],
  [10n ** 30n, 10n ** 30n + 1n],
]

/** Invalid tokens, as JavaScript code or a parsed text can pass them. */
const noTokens: readonly unknown[] = [
  -1n,
  7,
  7.5,
  Number.NaN,
  '',
  '-7',
  '7.5',
  ' 7',
  '0x7',
  '7n',
  undefined,
  null,
  {},
  Object.create(null),
  Symbol('7'),
]

export const guardTokenLaws: readonly GuardLaw[] = guardLawsOf('tokens', [], {
  async '0 is the smallest token, and may write a new resource'(trial, guard) {
    await trial.accepted(guard, 0n)
    await trial.accepted(guard, 0n, 'again')
    await trial.accepted(guard, 1n)
    await trial.rejected(() => guard.write('late', 0n))
  },
  async 'of any size are compared exactly'(trial, guard) {
    for (const [smaller, larger] of neighbours) {
      await trial.accepted(guard, smaller)
      await trial.accepted(guard, larger)
      await trial.rejected(() => guard.write('late', smaller))
    }
  },
  async 'as decimal text are compared as numbers, unless the guard takes no texts'(trial, guard) {
    await trial.accepted(guard, 10n)
    await assert.rejects(async () => guard.write('late', '9' as never), LeaseError)
    await trial.holds('10')
    const refusal = await rejectionOf(() => guard.write('text', '0100' as never))
    if (refusal instanceof LeaseError && refusal.code === 'configuration') return
    assert.equal(refusal, undefined)
    await trial.holds('text')
    await trial.rejected(() => guard.write('late', 99n))
    await trial.accepted(guard, 100n)
  },
  async 'other than whole numbers of 0 or more are rejected with a typed error, and change nothing'(trial, guard) {
    await trial.accepted(guard, 5n)
    for (const token of noTokens) {
      for (const call of [guard.write.bind(guard, 'none'), guard.delete?.bind(guard)]) {
        if (call === undefined) continue
        const error = await rejectionOf(() => call(token as bigint))
        const isTyped = error instanceof LeaseError && error.code === 'configuration'
        assert(isTyped, `a LeaseConfigurationError was expected for a ${typeof token}, not ${shown(error)}`)
        await trial.holds('5')
      }
    }
    await trial.accepted(guard, 5n, 'again')
    await trial.rejected(() => guard.write('late', 4n))
  },
})

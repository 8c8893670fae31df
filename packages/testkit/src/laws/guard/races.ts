import assert from 'node:assert/strict'
import { LeaseLostError } from '@leasehold/core'
import type { GuardedResource } from '../guard-subject.js'
import { type GuardLaw, type GuardTrial, guardLawsOf, rejectionOf, shown } from '../guard-trial.js'

/** In an order in which each token has larger ones before and behind it. */
const racing = [4n, 9n, 1n, 12n, 6n, 3n, 11n, 7n, 2n, 10n, 5n, 8n]

async function race(trial: GuardTrial, guards: readonly GuardedResource[]): Promise<void> {
  const outcomes = await Promise.all(
    racing.map(async (token, place) => {
      const guard = guards[place % guards.length]
      return { token, error: await rejectionOf(() => trial.contending(() => guard?.write(String(token), token))) }
    }),
  )
  for (const { token, error } of outcomes) {
    if (error === undefined) continue
    assert(error instanceof LeaseLostError, `token ${token} was rejected with ${shown(error)}`)
    assert.notEqual(token, 12n, 'the largest token was rejected')
  }
  await trial.holds('12')
}

/** Something else happens while a write under a smaller token is under way. The write is rejected and `left` is the value. */
async function overtaken(
  trial: GuardTrial,
  first: bigint | undefined,
  meanwhile: Overtaking,
  left: string | undefined,
): Promise<void> {
  const [late, successor] = [await trial.open(), await trial.open()]
  if (first !== undefined) await trial.accepted(late, first)
  let times = 0
  const error = await rejectionOf(() =>
    late.writeAfter?.('late', 5n, async () => {
      times += 1
      if (times === 1) await meanwhile(successor)
    }),
  )
  assert(error instanceof LeaseLostError, `a LeaseLostError was expected, not ${shown(error)}`)
  assert.equal(error.reason, 'taken')
  assert.equal(times, 1, "the user's code was called again under a token that is too small")
  await trial.holds(left)
}

type Overtaking = (successor: GuardedResource) => Promise<void>

const writes: Overtaking = async (successor) => void (await successor.write('successor', 6n))

const deletes: Overtaking = async (successor) => void (await successor.delete?.(6n))

const writesAndDeletes: Overtaking = async (successor) => {
  await writes(successor)
  await deletes(successor)
}

export const guardRaceLaws: readonly GuardLaw[] = [
  ...guardLawsOf('races', [], {
    async 'of concurrent writes to an existing resource, the one with the largest token is the last'(trial, guard) {
      await trial.accepted(guard, 0n)
      await race(trial, [guard])
    },
  }),
  ...guardLawsOf('races', ['guards'], {
    async 'of concurrent writes by several guards, the one with the largest token is the last'(trial) {
      await race(trial, [await trial.open(), await trial.open(), await trial.open()])
    },
  }),
  ...guardLawsOf('races', ['interruption'], {
    async 'a write succeeds although a write under a smaller token overtakes it'(trial, guard, other) {
      await trial.accepted(guard, 3n)
      let times = 0
      await guard.writeAfter?.('mine', 5n, async () => {
        times += 1
        if (times === 1) await other.write('smaller', 4n)
      })
      await trial.holds('mine')
      await trial.rejected(() => other.write('late', 4n))
    },
  }),
  ...[undefined, 3n].flatMap((first) => {
    const write = `a write to ${first === undefined ? 'a missing resource' : 'an existing resource'}`
    return [
      ...guardLawsOf('races', ['interruption'], {
        [`${write} is rejected after a write under a larger token overtook it`]: (trial) =>
          overtaken(trial, first, writes, 'successor'),
      }),
      ...guardLawsOf('races', ['interruption', 'deletion'], {
        [`${write} is rejected after a deletion under a larger token overtook it`]: (trial) =>
          overtaken(trial, first, deletes, undefined),
        [`${write} is rejected after a write and a deletion under a larger token overtook it`]: (trial) =>
          overtaken(trial, first, writesAndDeletes, undefined),
      }),
    ]
  }),
]

import { MemoryGuard } from '@leasehold/core'
import { checkGuardLaw, type GuardedResource, type GuardSubject, guardLaws } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { describe, expect, it } from 'vitest'
import { type GuardBug, guardSubject } from './support/test-guard.js'

const memory: GuardSubject = {
  name: 'MemoryGuard',
  // Values in this process: every writer has the guard itself.
  guards: false,
  start: () => {
    const guard = new MemoryGuard<string>()
    const fail = (): never => {
      throw new RangeError("the user's own")
    }
    const open = (): GuardedResource => ({
      write: (value, token) => guard.write('data', token, value),
      delete: (token) => guard.delete('data', token),
      read: () => guard.read('data'),
    })
    return {
      open,
      read: () => guard.read('data'),
      ownFailures: [
        { name: 'an error', guarded: (_, token) => guard.transact('data', token, fail), unguarded: () => fail() },
      ],
    }
  },
}

describeGuardLaws(memory)
describeGuardLaws(guardSubject())

/** Each bug, and a law that it breaks. */
const caught: Readonly<Record<GuardBug, string>> = {
  'accepts a token smaller by one': 'an old token is rejected, and changes nothing',
  'refuses the same token': 'the same token may write again',
  'remembers the token that came last': 'an old token is rejected, and changes nothing',
  'remembers rejected tokens': 'a rejected token does not move the fence',
  'remembers in the process': 'every guard of the resource knows the largest token',
  'forgets at a deletion': 'an old token is rejected after the resource was deleted',
  'deletes under any token': 'an old token deletes nothing',
  'forgets the deletion of a missing resource': 'of a missing resource also sets the fence',
  'compares once': 'a write to a missing resource is rejected after a write under a larger token overtook it',
  'compares as numbers': 'of any size are compared exactly',
  'compares as text': 'of any size are compared exactly',
  'compares texts as text': 'as decimal text are compared as numbers, unless the guard takes no texts',
  'takes numbers': 'other than whole numbers of 0 or more are rejected with a typed error, and change nothing',
  'wraps errors': "the user's own errors pass through unchanged",
  'lets the write fail first': "an old token is rejected before the user's own part can fail",
  'moves the fence beyond a failed write': 'a failed write can be repeated under its token',
  'moves the fence at a read': 'reading needs no token and does not move the fence',
}

describe('the laws of guards', () => {
  it('are data, each with a name of its own', () => {
    expect(guardLaws.length).toBeGreaterThanOrEqual(20)
    expect(new Set(guardLaws.map(({ family, name }) => `${family}: ${name}`)).size).toBe(guardLaws.length)
  })

  for (const [bug, law] of Object.entries(caught)) {
    it(`catch a guard that ${bug}`, async () => {
      const broken: string[] = []
      for (const one of guardLaws) {
        await checkGuardLaw(one, guardSubject(bug as GuardBug)).catch(() => broken.push(one.name))
      }
      expect(broken).toContain(law)
    })
  }

  it('that a subject cannot run are skipped, with the reason', async () => {
    const law = guardLaws.find(({ name }) => name === 'every guard of the resource knows the largest token')
    expect(law && (await checkGuardLaw(law, memory))).toEqual({ kept: false, skipped: 'there is one guard only' })
  })

  it('stop the backend of broken laws', async () => {
    let stopped = 0
    const { start } = guardSubject('accepts a token smaller by one')
    const subject: GuardSubject = {
      name: 'stopped',
      start: async () => ({
        ...(await start()),
        stop: () => {
          stopped += 1
        },
      }),
    }
    const law = guardLaws.find(({ name }) => name === 'an old token is rejected, and changes nothing')
    await expect(law && checkGuardLaw(law, subject)).rejects.toThrow('a LeaseLostError was expected')
    expect(stopped).toBe(1)
  })
})

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalGuard } from '@leasehold/local'
import { temporaryFolder } from '@leasehold/testing'
import type { GuardedResource, GuardSubject, OwnFailure } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'

/** The guard, for a file. */
interface Guarded extends GuardedResource {
  run(fencingToken: bigint, action: () => void): void
}

const failing = (name: string, error: unknown): OwnFailure => {
  const fail = (): never => {
    throw error
  }
  return { name, guarded: (guard, token) => (guard as Guarded).run(token, fail), unguarded: fail }
}

const subject: GuardSubject = {
  name: 'LocalGuard',
  start: () => {
    const ends: (() => unknown)[] = []
    const folder = temporaryFolder({ onTestFinished: (end) => void ends.push(end as () => unknown) })
    const file = join(folder, 'data')
    return {
      open: (): Guarded => {
        const guard = new LocalGuard({ folder })
        const run = (token: bigint, action: () => void) => guard.transact('data', token, action)
        return {
          run,
          write: (value, token) => run(token, () => writeFileSync(file, value)),
          delete: (token) => run(token, () => rmSync(file, { force: true })),
          close: () => guard.close(),
        }
      },
      read: () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined),
      ownFailures: [failing('an error', new RangeError("the user's own")), failing('no error', 'a text')],
      stop: async () => {
        for (const end of ends) await end()
      },
    }
  },
}

describeGuardLaws(subject)

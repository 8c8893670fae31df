import { type CasEntry, type CasRecord, type CasRegister, casStore } from '@leasehold/core/store'
import { checkStoreLaw, type StoreLaw, type StoreSubject, storeLaws } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

interface Stored extends CasEntry<number> {
  readonly createdAt: number
  readonly writtenAt: number
  readonly mark: { readonly version: number; readonly since: number } | undefined
}

type Times = Pick<CasEntry<number>, 'writtenAt' | 'doubtedSince'>

/** A store over a register that gives the times of an entry in this way. */
function subjectWith(name: string, timesOf: (entry: Stored) => Times, isMarked: boolean, runsBy = 1): StoreSubject {
  return {
    name,
    time: 'virtual',
    clients: true,
    start: (server) => {
      const entries = new Map<string, Stored>()
      let version = 0
      const now = (): number => 1_800_000_000_000 + server.now() * runsBy
      const write = (name: string, record: CasRecord): Stored => {
        version += 1
        const before = entries.get(name)
        const entry = { record, version, createdAt: before?.createdAt ?? now(), writtenAt: now(), mark: before?.mark }
        entries.set(name, entry)
        return entry
      }
      const register: CasRegister<number> = {
        clockError: 0,
        timeAfter: async () => now(),
        read: async (name) => {
          const entry = entries.get(name)
          return entry && { record: entry.record, version: entry.version, readAt: now(), ...timesOf(entry) }
        },
        create: async (name, record) => (entries.has(name) ? undefined : write(name, record)),
        replace: async (name, record, expected) =>
          entries.get(name)?.version === expected ? write(name, record) : undefined,
      }
      const doubt: CasRegister<number>['doubt'] = async (name, version, since) => {
        const entry = entries.get(name)
        if (entry !== undefined) entries.set(name, { ...entry, mark: { version, since } })
      }
      return { open: (clock) => casStore({ ...register, ...(isMarked ? { doubt } : {}) }, { clock }) }
    },
  }
}

/** The names of the laws that the subject breaks. */
async function brokenBy(subject: StoreSubject): Promise<readonly string[]> {
  const broken: string[] = []
  const check = async (law: StoreLaw): Promise<void> => {
    await checkStoreLaw(law, subject).catch(() => broken.push(law.name))
  }
  for (const law of storeLaws) if (law.family === 'expiry') await check(law)
  return broken
}

const live =
  'looks by short-lived clients never replace a live holder, also if they have looked before its last heartbeat'
const dead = 'looks by short-lived clients replace a dead holder, but not before its ttl is over'

describe('the laws of stores with times', () => {
  const markOf = ({ version, mark }: Stored) => (mark?.version === version ? { doubtedSince: mark.since } : {})

  it('are kept by a register that gives the time of the last write, or of a mark of this version', async () => {
    expect(await brokenBy(subjectWith('writes', ({ writtenAt }) => ({ writtenAt }), false))).toEqual([])
    expect(await brokenBy(subjectWith('marks', markOf, true))).toEqual([])
  })

  it('find a register that keeps a mark over a heartbeat', async () => {
    const since = ({ mark }: Stored) => (mark === undefined ? {} : { doubtedSince: mark.since })
    expect(await brokenBy(subjectWith('old marks', since, true))).toContain(live)
  })

  it('find a register that gives the time of the creation', async () => {
    const broken = await brokenBy(subjectWith('creation', ({ createdAt }) => ({ writtenAt: createdAt }), false))
    expect(broken).toContain(live)
    expect(broken).toContain('a client that has just connected does not take over a held name')
  })

  it('find a register whose clock is fast', async () => {
    expect(await brokenBy(subjectWith('fast', ({ writtenAt }) => ({ writtenAt }), false, 1.3))).not.toEqual([])
  })

  it('find a register that never gives its times, although it says so', async () => {
    expect(await brokenBy(subjectWith('none', () => ({}), false))).toContain(dead)
    expect(await brokenBy(subjectWith('lost marks', () => ({}), true))).toContain(dead)
  })
})

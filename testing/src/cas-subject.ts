import type { LeaseStore } from '@leasehold/core'
import { type CasEntry, type CasRecord, type CasRegister, casStore } from '@leasehold/core/store'
import type { StoreSubject } from '@leasehold/testkit'

/** Of the store; it has nothing to do with the clocks of clients. */
const EPOCH = 1_800_000_000_000

/** The store shows its time in steps, as HTTP does. In milliseconds. */
const STEP = 1_000

/** The times that the register of a subject gives: those of writes, or marks of challengers. */
type Times = 'none' | 'written' | 'marks'

/** Each client observes the register on a clock of its own, and can be cut off; entries can be deleted. */
export const casSubject: StoreSubject = subjectOver('casStore over a register in memory', 'none')

/** Like {@link casSubject}, over a register that gives the time of its answers and of the last write. */
export const timedCasSubject: StoreSubject = subjectOver('casStore over a register with times of writes', 'written')

/** Like {@link casSubject}, over a register that gives the time of its answers, and keeps marks. */
export const markedCasSubject: StoreSubject = subjectOver('casStore over a register with marks', 'marks')

type StoredEntry = CasEntry<number> & { readonly doubt?: { readonly version: number; readonly since: number } }

function subjectOver(name: string, times: Times): StoreSubject {
  return {
    name,
    time: 'virtual',
    clients: true,
    start: (server) => {
      const entries = new Map<string, StoredEntry>()
      const cut = new Set<LeaseStore>()
      let version = 0
      const time = (): number => EPOCH + Math.floor(server.now() / STEP) * STEP
      const write = (name: string, record: CasRecord): CasEntry<number> => {
        version += 1
        const createdAt = entries.get(name)?.createdAt ?? server.now() + version
        const entry = { record, version, createdAt, ...(times === 'written' ? { writtenAt: time() } : {}) }
        entries.set(name, entry)
        return entry
      }
      const answerOf = ({ doubt, ...entry }: StoredEntry): CasEntry<number> => ({
        ...entry,
        ...(times === 'none' ? {} : { readAt: time() }),
        ...(doubt?.version === entry.version ? { doubtedSince: doubt.since } : {}),
      })
      const doubt = (name: string, version: number, since: number): void => {
        const entry = entries.get(name)
        if (entry?.version === version) entries.set(name, { ...entry, doubt: { version, since } })
      }
      const registerOf = (client: () => LeaseStore): CasRegister<number> => {
        const reach = async <T>(answer: () => T | Promise<T>): Promise<T> => {
          if (cut.has(client())) throw new Error('connection refused')
          return await answer()
        }
        return {
          forgets: true,
          ...(times === 'none' ? {} : { clockError: 2 * STEP }),
          ...(times === 'marks' ? { doubt: (...mark) => reach(() => doubt(mark[0], mark[1], mark[2])) } : {}),
          timeAfter: () => reach(() => server.now()),
          read: (name) =>
            reach(() => {
              const entry = entries.get(name)
              return entry && answerOf(entry)
            }),
          create: (name, record) => reach(() => (entries.has(name) ? undefined : write(name, record))),
          replace: (name, record, expected) =>
            reach(() => (entries.get(name)?.version === expected ? write(name, record) : undefined)),
          list: async function* (prefix) {
            const listed = await reach(() => [...entries].filter(([name]) => name.startsWith(prefix)))
            for (const [name, entry] of listed) yield { name, ...answerOf(entry) }
          },
        }
      }
      return {
        open: (clock) => {
          const client: LeaseStore = casStore(
            registerOf(() => client),
            { clock },
          )
          return client
        },
        cutOff: (client) => void cut.add(client),
        heal: (client) => void cut.delete(client),
        delete: (name) => entries.delete(name),
        copy: async (name) => {
          const copied = entries.get(name)
          return () => copied && void write(name, copied.record)
        },
      }
    },
  }
}

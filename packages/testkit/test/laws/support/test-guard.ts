import { LeaseConfigurationError, LeaseLostError } from '@leasehold/core'
import type { GuardBackend, GuardedResource, GuardSubject } from '@leasehold/testkit'

/** One way in which a guard can be wrong. */
export type GuardBug =
  | 'accepts a token smaller by one'
  | 'refuses the same token'
  | 'remembers the token that came last'
  | 'remembers rejected tokens'
  | 'remembers in the process'
  | 'forgets at a deletion'
  | 'deletes under any token'
  | 'forgets the deletion of a missing resource'
  | 'compares once'
  | 'compares as numbers'
  | 'compares as text'
  | 'takes numbers'
  | 'compares texts as text'
  | 'wraps errors'
  | 'lets the write fail first'
  | 'moves the fence beyond a failed write'
  | 'moves the fence at a read'

/** The entry of a server. */
interface Entry {
  fence: bigint | undefined
  value: string | undefined
  version: number
}

class TestGuard implements GuardedResource {
  readonly #entry: Entry
  readonly #bug: GuardBug | undefined
  #own: bigint | undefined

  constructor(entry: Entry, bug: GuardBug | undefined) {
    this.#entry = entry
    this.#bug = bug
  }

  async write(value: string, token: bigint): Promise<void> {
    await this.run(token, () => value)
  }

  async writeAfter(value: string, token: bigint, meanwhile: () => Promise<void>): Promise<void> {
    await this.run(token, async () => {
      await meanwhile()
      return value
    })
  }

  async delete(token: bigint): Promise<void> {
    if (this.#bug === 'deletes under any token') this.#entry.value = undefined
    const isThere = this.#entry.value !== undefined
    await this.run(token, () => undefined)
    if (this.#bug === 'forgets at a deletion' && isThere) this.#entry.fence = undefined
    if (this.#bug === 'forgets the deletion of a missing resource' && !isThere) this.#entry.fence = undefined
  }

  read(): string | undefined {
    if (this.#bug === 'moves the fence at a read') this.#entry.fence = (this.#entry.fence ?? 0n) + 1n
    return this.#entry.value
  }

  async run(token: bigint, make: () => Promise<string | undefined> | string | undefined): Promise<void> {
    const isText = this.#bug === 'compares texts as text' && /^\d+$/.test(String(token))
    if (this.#bug !== 'takes numbers' && !isText && (typeof token !== 'bigint' || token < 0n)) {
      throw new LeaseConfigurationError('no token')
    }
    for (;;) {
      if (this.#bug === 'lets the write fail first') await make()
      const { version } = this.#entry
      this.#compare(token)
      const value = await this.#made(make, token)
      if (this.#entry.version !== version && this.#bug !== 'compares once') continue
      this.#entry.value = value
      this.#entry.version += 1
      if (this.#bug === 'remembers in the process') this.#own = token
      else this.#entry.fence = token
      return
    }
  }

  async #made(
    make: () => Promise<string | undefined> | string | undefined,
    token: bigint,
  ): Promise<string | undefined> {
    try {
      return await make()
    } catch (error) {
      if (this.#bug === 'moves the fence beyond a failed write') this.#entry.fence = token + 1n
      if (this.#bug === 'wraps errors') throw new Error('the write failed', { cause: error })
      throw error
    }
  }

  #compare(token: bigint): void {
    const seen = this.#bug === 'remembers in the process' ? this.#own : this.#entry.fence
    if (seen === undefined) return
    if (this.#bug === 'remembers rejected tokens' || this.#bug === 'remembers the token that came last') {
      this.#entry.fence = token
    }
    if (!this.#isOld(token, seen)) return
    if (this.#bug === 'remembers the token that came last') return
    throw new LeaseLostError('old token', { reason: 'taken' })
  }

  #isOld(token: bigint, seen: bigint): boolean {
    if (this.#bug === 'compares as numbers') return Number(token) < Number(seen)
    const isText = this.#bug === 'compares texts as text' && typeof token !== 'bigint'
    if (isText || this.#bug === 'compares as text') return String(token) < String(seen)
    if (this.#bug === 'accepts a token smaller by one') return token < seen - 1n
    return this.#bug === 'refuses the same token' ? token <= seen : token < seen
  }
}

const ownError = new RangeError("the user's own")

/** A guard over an entry with a version; with a bug, if one is given. */
export function guardSubject(bug?: GuardBug): GuardSubject {
  return {
    name: bug === undefined ? 'a guard of the tests' : `a guard that ${bug}`,
    start: (): GuardBackend => {
      const entry: Entry = { fence: undefined, value: undefined, version: 0 }
      const fail = (): never => {
        throw ownError
      }
      return {
        open: () => new TestGuard(entry, bug),
        read: () => entry.value,
        ownFailures: [
          { name: 'throws', guarded: (guard, token) => (guard as TestGuard).run(token, fail), unguarded: fail },
        ],
      }
    },
  }
}

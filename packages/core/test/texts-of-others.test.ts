import { createLease, type LeaseRecord, LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { setUp, setUpHeld, silentLogger, TTL } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

/** Clears the terminal, hides text, turns the direction of text, and forges a line. */
const attack = 'x\u001b[2J\u009b8m\u202e\r\nleasehold: all is well'
const shown = String.raw`x\u{1b}[2J\u{9b}8m\u{202e}\u{d}\u{a}leasehold: all is well`

const attacker: LeaseRecord = recordOf({ owner: attack })

describe('a text of another owner', () => {
  it('is shown in one line by the error of a run', async () => {
    const { lease, store } = setUp()
    const run = lease.run(async () => {}).catch((reason: unknown) => reason)
    store.last('acquire').answer({ granted: false, holder: attacker })
    const error = (await run) as Error
    expect(error.message).toContain(`held by another owner, '${shown}'`)
    expect(error.stack).toContain(shown)
    expect(error).toMatchObject({ holder: attack })
  })

  it('is shown in one line by the error of a loss', async () => {
    const fixture = await setUpHeld()
    const { signal } = fixture.lease
    await fixture.clock.advance(1_000)
    fixture.store.last('renew').answer({ renewed: false, reason: 'taken', holder: attacker })
    await fixture.clock.settle()
    expect(signal.reason.message).toContain(`(held by '${shown}' now)`)
    expect(fixture.losses).toMatchObject([{ owner: attack }])
  })

  it('is shown in one line by the error of a challenger that preempts', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    await createLease(store, 'job', { owner: attack, heartbeatTimeout: Number.POSITIVE_INFINITY, clock }).acquire()
    const lease = createLease(store, 'job', { clock, logger: silentLogger })
    const attempt = lease.acquire({ wait: TTL, preempt: { period: 0, when: () => true } })
    await expect(attempt).rejects.toThrow(`lease 'job' of '${shown}' does not expire`)
  })

  it('is shown in one line by the error of an adoption', async () => {
    const { lease } = setUp()
    const handOff = { name: attack, owner: attack, grantId: 'g', fencingToken: '1', ttl: TTL }
    await expect(lease.adopt(handOff)).rejects.toThrow(`is of lease '${shown}', not of 'job'`)
    await expect(lease.adopt({ ...handOff, name: 'job' })).rejects.toThrow(`for owner '${shown}', not for 'me'`)
  })

  it('is shown in one line by the log', async () => {
    const lines: string[] = []
    const logger = { ...silentLogger, error: (line: string) => void lines.push(line) }
    const lease = createLease(new MemoryLeaseStore(), attack, { owner: attack, logger })
    lease.on('acquired', () => {
      throw new Error('the listener failed')
    })
    await lease.acquire()
    expect(lines).toEqual([`lease '${shown}' of '${shown}': an error in the background`])
    await lease.close()
  })
})

describe('the message of an error', () => {
  it('shows a name with a new line in one line', () => {
    const error = new LeaseUnavailableError(`lease '${attack}' of '${attack}' failed`, { leaseName: attack })
    expect(error.message).toBe(`lease '${shown}' of '${shown}' failed`)
    expect(error.leaseName).toBe(attack)
  })

  it('escapes what a server says, and keeps its lines', () => {
    const error = new LeaseUnavailableError('the server said \u001b]0;title\u0007:\nline 2\r\n')
    expect(error.message).toBe('the server said \\u{1b}]0;title\\u{7}:\nline 2\\u{d}\n')
  })
})

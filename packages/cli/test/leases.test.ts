import { createLease, type StoreLease } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { eventually, silentLogger } from '@leasehold/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { configOfStore } from './support/config-file.js'
import { TestTerminal } from './support/test-terminal.js'

/** A lease of this process on the store of the commands. */
async function held(terminal: TestTerminal, name: string): Promise<StoreLease> {
  const lease = createLease(terminal.open(), name, { owner: `owner of ${name}`, logger: silentLogger })
  onTestFinished(() => lease.close())
  await lease.acquire()
  return lease
}

describe('status', () => {
  it('prints a row for each name: state, holder, since, token, time left and waiters', async () => {
    const terminal = new TestTerminal()
    const lease = await held(terminal, 'backup')
    const waiting = lease.store.acquire(
      { name: 'backup', owner: 'waiter', grantId: 'w', ttl: 60_000, queue: true },
      new AbortableCall(),
    )
    await waiting
    const { code, output, errors } = await terminal.run('status backup other')
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    const [row = '', other] = output.split('\n')
    expect(row.split('\t')).toEqual([
      'backup',
      'leased',
      'owner of backup',
      expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      String(lease.fencingToken),
      expect.stringMatching(/^(2m|1m 59s)$/),
      '1',
    ])
    expect(other).toBe('other\tnone\t-\t-\t-\t-\t-')
  })

  it('has titles, columns and colours on a terminal only, and no colours with NO_COLOR', async () => {
    const terminal = new TestTerminal({ isTTY: true })
    await held(terminal, 'backup')
    const shown = await terminal.run('status backup')
    expect(shown.output).toMatch(
      /^NAME +STATE +HOLDER +SINCE +TOKEN +REMAINING +WAITERS\nbackup {2}leased {2}owner of backup {2}/,
    )
    expect(shown.raw).toContain('\u001b[32mleased\u001b[39m')
    const plain = await terminal.run('status backup', { env: { NO_COLOR: '1', XDG_STATE_HOME: terminal.folder } })
    expect(plain.raw).toBe(plain.output)
    expect((await terminal.run('status backup', { isTTY: false })).raw).not.toContain('\u001b')
  })

  it('prints records as JSON, with tokens as texts', async () => {
    const terminal = new TestTerminal()
    const { fencingToken } = await held(terminal, 'backup')
    const { output } = await terminal.run('status backup other --output json')
    expect(JSON.parse(output)).toEqual([
      expect.objectContaining({ name: 'backup', state: 'leased', fencingToken: String(fencingToken), waiters: 0 }),
      { name: 'other', state: 'none' },
    ])
  })

  it('shows no control characters of other programs', async () => {
    const terminal = new TestTerminal({ isTTY: true })
    const lease = createLease(terminal.open(), 'job', { owner: 'me\u001b]0;title\u0007\n', logger: silentLogger })
    onTestFinished(() => lease.close())
    await lease.acquire()
    const { output } = await terminal.run('status job')
    expect(output).toContain('me\\u{1b}]0;title\\u{7}\\u{a}')
  })
})

describe('list', () => {
  it('prints the records of a prefix by name, or those that are held', async () => {
    const terminal = new TestTerminal()
    for (const name of ['jobs/b', 'jobs/a', 'other']) await held(terminal, name)
    await (await held(terminal, 'jobs/c')).release()
    const names = async (line: string) =>
      (await terminal.run(line)).output
        .trim()
        .split('\n')
        .map((row) => row.split('\t')[0])
    expect(await names('list')).toEqual(['jobs/a', 'jobs/b', 'jobs/c', 'other'])
    expect(await names('list jobs/')).toEqual(['jobs/a', 'jobs/b', 'jobs/c'])
    expect(await names('list jobs/ --held')).toEqual(['jobs/a', 'jobs/b'])
    const { output } = await terminal.run('list other -o json')
    expect(JSON.parse(output)).toEqual([expect.objectContaining({ name: 'other', owner: 'owner of other' })])
  })

  it('prints nothing where there are no leases', async () => {
    expect(await new TestTerminal().run('list')).toMatchObject({ code: 0, output: '', errors: '' })
  })
})

describe('watch', () => {
  it('prints the present state, then a line for each change', async () => {
    const terminal = new TestTerminal()
    const watched = terminal.start('watch job --lines 4 --interval 20ms -o json')
    const shown = (count: number) => eventually(`line ${count}`, async () => watched.lines().length === count)
    await shown(1)
    const lease = await held(terminal, 'job')
    await shown(2)
    await lease.renew()
    await lease.update({ part: '2' })
    await shown(3)
    await lease.release()
    const { code, output } = await watched.ended
    expect(code).toBe(0)
    const states = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(states.map(({ state }) => state)).toEqual(['none', 'leased', 'leased', 'available'])
    expect(states[2]).toMatchObject({
      name: 'job',
      owner: 'owner of job',
      metadata: { part: '2' },
      at: expect.any(Number),
    })
  })

  it('goes on after failures of the store, and reports each outage once', async () => {
    const config = configOfStore('flaky-lease')
    const watched = new TestTerminal().start(`watch job --interval 20ms -n 1 -c ${config}`)
    expect(await watched.ended).toMatchObject({ code: 0, errors: '' })
    const failing = new TestTerminal().start(`watch job --interval 20ms -n 2 -c ${config}`)
    await eventually('a report', async () => failing.errors() !== '')
    expect(failing.errors()).toBe('leasehold: the server is restarting; watching again\n')
  })

  it('is for people on a terminal, and has tabs elsewhere', async () => {
    const terminal = new TestTerminal()
    const { fencingToken } = await held(terminal, 'job')
    const elsewhere = await terminal.run('watch job -n 1')
    expect(elsewhere.output).toMatch(new RegExp(`\\tjob\\tleased\\towner of job\\t${fencingToken}\\n$`))
    const shown = await terminal.run('watch job -n 1', { isTTY: true })
    expect(shown.output).toMatch(new RegExp(`  job is leased by owner of job, token ${fencingToken}\\n$`))
  })
})

describe('break', () => {
  it('ends the lease of its holder, with --yes', async () => {
    const terminal = new TestTerminal()
    const lease = await held(terminal, 'job')
    const ended = await terminal.run(['break', 'job', '--yes', '--period', '0s', '--reason', 'it is stuck'])
    expect(ended).toMatchObject({ code: 0, output: 'job is broken, and free now\n' })
    expect(await lease.store.read('job', new AbortableCall())).toMatchObject({
      state: 'broken',
      metadata: { breakReason: 'it is stuck' },
    })
  })

  it('keeps the name locked for the period', async () => {
    const terminal = new TestTerminal()
    const lease = await held(terminal, 'job')
    const grantId = (await lease.holder())?.grantId
    const { output } = await terminal.run('break job -y --period 30s -o json')
    const { remaining, ...broken } = JSON.parse(output)
    expect(broken).toEqual({ name: 'job', owner: 'owner of job', grantId })
    expect(remaining).toBeGreaterThan(25_000)
    expect(remaining).toBeLessThanOrEqual(30_000)
  })

  it('asks on a terminal, and changes nothing without a yes', async () => {
    const terminal = new TestTerminal({ isTTY: true })
    const lease = await held(terminal, 'job')
    for (const typed of ['n\n', '\n', '']) {
      const { code, errors } = await terminal.run('break job', { typed })
      expect(code).toBe(1)
      expect(errors).toMatch(/'job' is held by owner of job since .*, token \d+\. Break it\? \[y\/N\] /)
      expect(errors).toContain('nothing was changed')
    }
    expect(await lease.holder()).toMatchObject({ state: 'leased' })
    expect(await terminal.run('break job --period 0s', { typed: 'yes\n' })).toMatchObject({ code: 0 })
    expect(await lease.holder()).toBeUndefined()
  })

  it('needs --yes without a terminal', async () => {
    const terminal = new TestTerminal()
    const lease = await held(terminal, 'job')
    const { code, errors } = await terminal.run('break job', { typed: 'y\n' })
    expect({ code, errors }).toEqual({ code: 64, errors: expect.stringContaining('add --yes') })
    expect(await lease.holder()).toMatchObject({ state: 'leased' })
  })

  it('ends with 1 where nobody holds the lease', async () => {
    const ended = await new TestTerminal().run('break job --yes')
    expect(ended).toMatchObject({ code: 1, errors: "leasehold: nobody holds 'job': there is nothing to break\n" })
  })
})

describe('release', () => {
  it('frees the name of a grant in force, and of no other', async () => {
    const terminal = new TestTerminal()
    const lease = await held(terminal, 'job')
    const grantId = (await lease.holder())?.grantId ?? ''
    const refused = await terminal.run('release job --grant another')
    expect(refused).toMatchObject({ code: 1, errors: expect.stringContaining('is not in force: nothing was changed') })
    expect(await lease.holder()).toMatchObject({ state: 'leased' })
    expect(await terminal.run(`release job --grant ${grantId}`)).toMatchObject({ code: 0, output: 'job is released\n' })
    expect(await lease.holder()).toBeUndefined()
    const { code, output } = await terminal.run(`release job -g ${grantId} -o json`)
    expect([code, JSON.parse(output)]).toEqual([1, { name: 'job', grantId, released: false }])
  })

  it('needs the id of the grant', async () => {
    const { code, errors } = await new TestTerminal().run('release job')
    expect([code, errors]).toEqual([64, expect.stringContaining('leasehold status job -o json')])
  })
})

import { hostname, userInfo } from 'node:os'
import { createLease } from '@leasehold/core'
import { Schedule, ScheduleControl, type ScheduleOptions } from '@leasehold/recipes'
import { eventually, silentLogger } from '@leasehold/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { TestTerminal } from './support/test-terminal.js'

const NOON = '2099-01-31T12:00:00.000Z'
const who = `${userInfo().username}@${hostname()}`

/** An instance of a schedule on the store of the commands, whose runs are counted. */
function started(terminal: TestTerminal, name: string, options: Partial<ScheduleOptions> = {}) {
  const runs: (string | undefined)[] = []
  const schedule = new Schedule(terminal.open(), {
    name,
    owner: `owner of ${name}`,
    cron: '0 3 29 2 *',
    heartbeatTimeout: 2_000,
    heartbeatInterval: 100,
    operationTimeout: 500,
    logger: silentLogger,
    work: ({ byHand }) => void runs.push(byHand?.by),
    ...options,
  })
  schedule.start()
  onTestFinished(() => schedule.stop())
  return { schedule, runs }
}

describe('schedule pause and resume', () => {
  it('keep a schedule from running, with the user, the time and the reason', async () => {
    const terminal = new TestTerminal()
    const paused = await terminal.run(['schedule', 'pause', 'report', '--reason', 'database upgrade'])
    expect(paused).toMatchObject({
      code: 0,
      errors: '',
      output: 'report is paused until leasehold schedule resume report\n',
    })
    const { schedule } = started(terminal, 'report')
    expect(await schedule.read()).toMatchObject({ next: undefined, paused: { by: who, reason: 'database upgrade' } })
    const resumed = await terminal.run('schedule resume report')
    expect(resumed).toMatchObject({ code: 0, errors: '', output: 'report is resumed\n' })
    expect((await schedule.read()).paused).toBeUndefined()
    const again = await terminal.run('schedule resume report')
    expect(again).toMatchObject({
      code: 1,
      output: '',
      errors: "leasehold: 'report' is not paused: nothing was changed\n",
    })
  })

  it('end at a time, or after a time, by another user', async () => {
    const terminal = new TestTerminal()
    const control = new ScheduleControl(terminal.open(), 'report')
    const until = await terminal.run(`schedule pause report --reason x --until ${NOON} --by ada -o json`)
    const at = expect.any(String)
    expect(JSON.parse(until.output)).toEqual({ name: 'report', paused: { by: 'ada', at, reason: 'x', until: NOON } })
    const lasting = await terminal.run('schedule pause report --reason y --for 2h')
    expect(lasting.output).toMatch(/^report is paused until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$/)
    const { paused } = await control.read()
    expect(Date.parse(paused?.until ?? '') - Date.parse(paused?.at ?? '')).toBeCloseTo(7_200_000, -3)
    expect(JSON.parse((await terminal.run('schedule resume report -o json')).output)).toEqual({
      name: 'report',
      resumed: true,
    })
  })
})

describe('schedule run-now', () => {
  it('has one instance run once, also during a pause', async () => {
    const terminal = new TestTerminal()
    const instances = [started(terminal, 'report'), started(terminal, 'report')]
    const runs = () => instances.flatMap((instance) => instance.runs)
    await terminal.run('schedule pause report --reason x')
    const asked = await terminal.run('schedule run-now report')
    expect(asked.code).toBe(0)
    const [, id] = /^report runs once, as soon as an instance sees request (\d+)\n$/.exec(asked.output) ?? []
    expect(id).toBeDefined()
    await eventually('the first run', async () => runs().length === 1)
    const json = await terminal.run('schedule run-now report --by ada --output json')
    expect(JSON.parse(json.output)).toEqual({ name: 'report', id: expect.stringMatching(/^\d+$/) })
    await eventually('the second run', async () => runs().length === 2)
    expect(runs().sort()).toEqual(['ada', who])
  })
})

describe('schedule list and show', () => {
  it('print a row for each schedule of a prefix, and each fact of one', async () => {
    const terminal = new TestTerminal()
    const { schedule } = started(terminal, 'jobs/report', { work: () => Promise.reject(new Error('no paper')) })
    await schedule.runNow({ by: 'ada' })
    await eventually('the run has ended', async () => (await schedule.read()).last !== undefined)
    await terminal.run('schedule pause jobs/import --reason upgrade --by berta')
    await createLease(terminal.open(), 'jobs/lease').acquire()
    await terminal.run('schedule pause other --reason x')
    const listed = await terminal.run('schedule list jobs/')
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(listed.output.split('\n').map((line) => line.split('\t'))).toEqual([
      ['jobs/import', 'paused', '-', '-', '-', '-'],
      ['jobs/report', 'waiting', time, 'failed', time, 'cron 0 3 29 2 * in UTC'],
      [''],
    ])
    const all = JSON.parse((await terminal.run('schedule list -o json')).output)
    expect(all).toMatchObject([
      { name: 'jobs/import', paused: { by: 'berta' } },
      { name: 'jobs/report' },
      { name: 'other' },
    ])
    const shown = await terminal.run('schedule show jobs/report', { isTTY: true })
    expect(shown.output).toMatch(/^SCHEDULE +jobs\/report\nstate +waiting\nplan +cron 0 3 29 2 \* in UTC\nnext +20/)
    expect(shown.output).toMatch(/\nlast +failed, by hand for ada, on owner of jobs\/report: no paper\n$/)
    const paused = await terminal.run('schedule show jobs/import')
    expect(paused.output).toContain('paused by\tberta\n')
    expect(paused.output).toContain('paused until\t-\nreason\tupgrade\n')
    const json = JSON.parse((await terminal.run('schedule show jobs/report -o json')).output)
    expect(json).toMatchObject({ name: 'jobs/report', last: { outcome: 'failed', byHand: { by: 'ada' } }, skipped: [] })
  })

  it('show ticks that will be skipped, and requests that wait', async () => {
    const terminal = new TestTerminal()
    const { schedule } = started(terminal, 'report', { cron: '0 12 31 1 *' })
    await schedule.skip(NOON)
    await schedule.stop()
    await terminal.run('schedule run-now report --by ada')
    const { output } = await terminal.run('schedule show report')
    expect(output).toMatch(/\nskips\t20/)
    expect(output).toMatch(/\nasked to run\tby ada at 20/)
  })

  it('escape control characters that others have left', async () => {
    const terminal = new TestTerminal()
    const lease = createLease(terminal.open(), 'report', { logger: silentLogger })
    const at = '2026-01-01T12:00:00.000Z'
    const run = JSON.stringify({ due: at, startedAt: at, owner: '\u001b[2J', outcome: 'failed', error: '\u001b[2J' })
    await lease.acquire({ metadata: { recipe: 'schedule', run, plan: '\u001b[2J' } })
    await lease.release()
    for (const line of ['schedule list', 'schedule show report', 'schedule show report -o json']) {
      const { code, raw, errors } = await terminal.run(line)
      expect({ code, errors }).toEqual({ code: 0, errors: '' })
      expect(raw).not.toContain('\u001b')
    }
  })
})

describe('schedule', () => {
  it.each([
    ['schedule', "'leasehold schedule' needs ACTION"],
    ['schedule puase x', "has no ACTION 'puase': did you mean pause?"],
    ['schedule pause', "'leasehold schedule pause' needs NAME"],
    ['schedule pause x', '--reason TEXT is required'],
    ['schedule pause x --reason y --for 1h --until 2099-01-01', '--for and --until exclude each other'],
    ['schedule resume x --reason y', "'leasehold schedule resume' has no option --reason"],
    ['schedule list --by me', "'leasehold schedule list' has no option --by"],
  ])('rejects %s', async (line, message) => {
    const { code, errors } = await new TestTerminal().run(line)
    expect(errors).toContain(message)
    expect(code).toBe(64)
  })

  it.each([
    ['schedule pause x --reason y --until tomorrow', 'until must be a date such as'],
    ['schedule pause x --reason y --until 2020-01-01', 'until must be in the future'],
    ['schedule pause x --reason y --store memory: --by ""', 'by must be a text'],
  ])('exits with 78 for %s', async (line, message) => {
    const words = line.split(' ').map((word) => (word === '""' ? '' : word))
    const { code, errors } = await new TestTerminal().run(words)
    expect(errors).toContain(message)
    expect(code).toBe(78)
  })
})

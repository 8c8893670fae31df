import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { FlightRecorder } from '@leasehold/recorder/internal'
import { silentLogger, temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { exitCodes } from '../src/exit-codes.js'
import { TestTerminal } from './support/test-terminal.js'

/** Writes the recording of a holder whose process was stopped, and returns its path. */
async function recording(name = 'job', owner = 'one'): Promise<string> {
  const folder = temporaryFolder()
  const path = join(folder, 'a.rec')
  const clock = new VirtualClock()
  const recorder = new FlightRecorder(
    { folder },
    {
      process: { cpu: () => 0, onCollection: () => () => {} },
      identity: { id: 'process', pid: 1, host: 'host', node: 'v20' },
      write: (text) => {
        writeFileSync(path, text)
        return path
      },
    },
  )
  const environment = { clock, random: () => 0.5, logger: silentLogger, recorder }
  const lease = createLease(new MemoryLeaseStore({ clock }), name, { owner, heartbeatTimeout: 10_000, ...environment })
  await lease.acquire()
  await clock.advance(20_000)
  clock.block(30_000)
  await clock.advance(1_000)
  return path
}

describe('leasehold explain', () => {
  it('says why, who and how close, and that the replay agrees', async () => {
    const { code, output, errors } = await new TestTerminal().run(['explain', await recording()])
    expect({ code, errors }).toEqual({ code: exitCodes.ok, errors: '' })
    expect(output).toContain(
      "The lease 'job' was lost by 'one' (pid 1 on host) at 00:00:50.000 because its process did not run for 29.8s",
    )
    expect(output).toContain("'one' held it from 00:00:00.000 to 00:00:2")
    expect(output).toContain('and no heartbeat was sent after it; the validity ended at')
    expect(output).toContain('Cause: stopped')
    expect(output).toMatch(/The replay of \d+ events agrees with the recordings\./)
  })

  it('answers in JSON, and for one lease', async () => {
    const file = await recording()
    const answer = await new TestTerminal().run(['explain', file, '-o', 'json'])
    expect(JSON.parse(answer.output)).toMatchObject({
      losses: [{ lease: 'job', owner: 'one', cause: 'stopped', process: 'process', fencingToken: '1' }],
      replay: { agrees: true },
    })
    const other = await new TestTerminal().run(['explain', file, '--lease', 'other'])
    expect(other.output).toContain('No lease was lost in these recordings.')
  })

  it('draws, with names that are no markup, and prints no control characters', async () => {
    const file = await recording('<script>alert("1")</script>&\u0007', "o'ne\u001b[2J")
    const svg = join(temporaryFolder(), 'a.svg')
    const { code, raw } = await new TestTerminal().run(['explain', file, '--svg', svg])
    expect(code).toBe(exitCodes.ok)
    for (const mark of ['\u0007', '\u001b']) expect(raw).not.toContain(mark)
    const drawing = readFileSync(svg, 'utf8')
    expect(drawing).not.toContain('<script')
    expect(drawing).toContain('&lt;script&gt;')
    for (const mark of ['\u0007', '\u001b']) expect(drawing).not.toContain(mark)
  })

  it.each([
    ['that is cut off', (text: string) => text.slice(0, text.length - 40), 'the recording is cut off'],
    ['of a newer version', (text: string) => text.replace('"version":1', '"version":9'), 'has version 9 of the format'],
    ['of something else', () => '{"a": 1}', 'this is no recording of leasehold'],
    ['with a damaged line', (text: string) => text.replace('"lease":0,"event"', '"lease":7,"event"'), 'is damaged'],
  ])('refuses a file %s', async (_what, change, message) => {
    const file = await recording()
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    const { code, output, errors } = await new TestTerminal().run(['explain', file])
    expect({ code, output }).toEqual({ code: exitCodes.unreadable, output: '' })
    expect(errors).toContain(message)
  })

  it('refuses a file that does not exist', async () => {
    const { code, errors } = await new TestTerminal().run('explain /nowhere/a.rec')
    expect(code).toBe(exitCodes.unreadable)
    expect(errors).toContain('/nowhere/a.rec: ENOENT')
  })

  it('exits with 1 where this version decides otherwise than the recorded one', async () => {
    const file = await recording()
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"heartbeatAt":1(?=.*"renewed")/, '"heartbeatAt":9'))
    const { code, output } = await new TestTerminal().run(['explain', file])
    expect(code).toBe(exitCodes.no)
    expect(output).toContain('The replay differs: at ')
  })
})

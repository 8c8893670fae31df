import { createLease, LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, test } from 'vitest'
import { flightRecorder } from '../src/index.js'
import { FlightRecorder, readRecording, replay } from '../src/internal.js'

function recorded(options: { size?: number; metadata?: boolean } = {}) {
  const files: string[] = []
  const clock = new VirtualClock()
  const identity = { id: 'process', pid: 1, host: 'host', node: 'v20' }
  let cpu = 0
  const surroundings = {
    process: { cpu: () => cpu, onCollection: () => () => {} },
    identity,
    write: (text: string) => {
      files.push(text)
      return `${files.length}.rec`
    },
  }
  const recorder = new FlightRecorder({ folder: 'memory', ...options }, surroundings)
  const faulty = new FaultyStore(new MemoryLeaseStore({ clock }), { clock })
  const lease = createLease(faulty, 'job', {
    owner: 'one',
    heartbeatTimeout: 10_000,
    clock,
    random: () => 0.5,
    recorder,
  })
  const burn = (duration: number): void => {
    cpu += duration
    clock.block(duration)
  }
  const read = (place = -1) => readRecording(files.at(place) ?? '', 'a.rec')
  return { files, clock, recorder, faulty, lease, burn, read }
}

describe('a flight recorder', () => {
  test('writes nothing while nothing is lost', async () => {
    const { files, clock, lease } = recorded()
    await lease.acquire()
    await clock.advance(60_000)
    await lease.release()
    expect(files).toEqual([])
  })

  test('writes the events of a lease when it is lost, with their replay', async () => {
    const { files, clock, lease, burn, read } = recorded()
    await lease.acquire()
    await clock.advance(30_000)
    burn(20_000)
    await clock.advance(1_000)
    expect(files.length).toBe(1)
    const { header, leases, machine } = read()
    expect(header.reason).toBe('lost')
    expect(machine.find(({ event }) => event.type === 'stall')?.event).toMatchObject({ cpu: 20_000, suspended: 0 })
    expect(leases[0]?.events.at(-1)?.effects).toContain('lost')
    expect(replay([read()])).toMatchObject({ difference: undefined })
    expect(replay([read()]).events).toBeGreaterThan(5)
  })

  test('a replay finds a decision that this version would not make', async () => {
    const { files, clock, recorder, lease } = recorded()
    await lease.acquire()
    await clock.advance(12_000)
    recorder.write()
    // The validity after a heartbeat, as a version with another rule would count it.
    const changed = files[0]?.replace(/"validUntil":(\d+)(?=.*"renewed")/, '"validUntil":1$1') ?? ''
    expect(changed).not.toBe(files[0])
    expect(replay([readRecording(changed, 'a.rec')]).difference).toBeDefined()
  })

  test('keeps a fixed number of entries, and can be replayed from the first that it has', async () => {
    const { clock, recorder, lease, read } = recorded({ size: 100 })
    await lease.acquire()
    await clock.advance(600_000)
    recorder.write()
    const { header, leases } = read()
    expect(leases[0]?.events.length).toBe(100)
    expect(header.overwritten).toBeGreaterThan(100)
    expect(replay([read()])).toEqual({ events: 100, difference: undefined })
  })

  test('writes no metadata unless it is asked for, and no credentials', async () => {
    const { files, clock, recorder, lease, faulty } = recorded()
    await lease.acquire({ metadata: { secret: 'pocket' } })
    faulty.inject(
      { kind: 'fail-before', error: new Error('redis://user:pocket@host failed, password=pocket') },
      'renewMany',
    )
    await clock.advance(10_000)
    await lease.update({ secret: 'pocket' })
    await clock.advance(1_000)
    recorder.write()
    expect(files[0]).toContain('redis://***@host')
    expect(files[0]).not.toContain('pocket')

    const asked = recorded({ metadata: true })
    await asked.lease.acquire({ metadata: { secret: 'pocket' } })
    const updated = asked.lease.update({ secret: 'pocket' })
    await asked.clock.advance(100)
    await updated
    asked.recorder.write()
    expect(asked.files[0]).toContain('pocket')
  })

  test('refuses options that are not valid', () => {
    expect(() => flightRecorder({ folder: '' })).toThrow(LeaseConfigurationError)
    expect(() => flightRecorder({ folder: 'x', size: 5 })).toThrow('size must be a whole number from 100')
    expect(() => flightRecorder({ folder: 'x', stack: 'yes' as never })).toThrow(
      'recorder: stack must be true or false',
    )
    expect(() => flightRecorder({ folder: 'x', sise: 5 } as never)).toThrow("did you mean 'size'")
    expect(() => createLease(new MemoryLeaseStore(), 'job', { recorder: {} as never })).toThrow('recorder must be')
  })

  test('a file that is cut off, newer, or something else is refused', async () => {
    const { files, clock, recorder, lease } = recorded()
    await lease.acquire()
    await clock.advance(5_000)
    recorder.write()
    const [text = ''] = files
    for (const part of [0.3, 0.7, 0.999]) {
      expect(() => readRecording(text.slice(0, text.length * part), 'a.rec')).toThrow('a.rec: the recording is cut off')
    }
    expect(() => readRecording(text.slice(0, text.lastIndexOf('{')), 'a.rec')).toThrow('cut off')
    expect(() => readRecording(text.replace('"version":1', '"version":2'), 'a.rec')).toThrow(
      'has version 2 of the format',
    )
    expect(() => readRecording('hello', 'a.rec')).toThrow('no recording of leasehold')
    expect(() => readRecording('', 'a.rec')).toThrow('no recording of leasehold')
  })
})

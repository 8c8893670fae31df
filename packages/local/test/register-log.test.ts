import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseError, LeaseUnavailableError } from '@leasehold/core'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LogFile } from '../src/log-file.js'
import { openLog, put, read, text } from './support/open-log.js'

describe('changes', () => {
  it('of one reader are seen by another reader of the log', () => {
    const { path, log } = openLog()
    const other = openLog(path).log
    expect(put(log, 'a', 'one ')).toBe(true)
    expect(read(other, 'a')).toBe('one ')
    expect(put(other, 'a', 'two')).toBe(true)
    log.close()
    expect(read(other, 'a')).toBe('one two')
    expect(read(openLog(path).log, 'a')).toBe('one two')
  })

  it('that were decided on an old value are not in force, for any reader; those of other registers are', () => {
    const { path, log } = openLog()
    const late = openLog(path).log
    put(log, 'a', 'first')
    const { accepted } = late.attempt([
      { key: 'a', change: 'second' },
      { key: 'b', change: 'other' },
    ])
    expect(accepted).toEqual([false, true])
    for (const reader of [log, late, openLog(path).log]) {
      expect(read(reader, 'a')).toBe('first')
      expect(read(reader, 'b')).toBe('other')
    }
    expect(put(late, 'a', ', second')).toBe(true)
    expect(read(log, 'a')).toBe('first, second')
  })

  it('that are equal share a line, which is in force for each register that was not changed meanwhile', () => {
    const { path, log, file } = openLog()
    const late = openLog(path).log
    const keys = Array.from({ length: 1_000 }, (_, place) => `a register with a long name ${place}`)
    log.attempt(keys.map((key) => ({ key, change: key })))
    late.refresh()
    const size = statSync(file).size
    put(log, 'a register with a long name 7', ' first')
    const { accepted } = late.attempt(keys.map((key) => ({ key, change: ' renewed' })))
    expect(statSync(file).size - size).toBeLessThan(5 * keys.length)
    expect(accepted).toEqual(keys.map((_, place) => place !== 7))
    for (const reader of [log, late, openLog(path).log]) {
      expect(keys.map((key) => read(reader, key))).toEqual(
        keys.map((key, place) => `${key}${place === 7 ? ' first' : ' renewed'}`),
      )
    }
  })

  it('that were cut short have no effect, and the next one is complete', () => {
    const { path, log, file } = openLog()
    put(log, 'a', 'kept')
    const size = statSync(file).size
    put(log, 'a', ' lost')
    const line = readFileSync(file).subarray(size)
    for (let length = 1; length < line.length - 1; length += 1) {
      const copy = temporaryFolder()
      writeFileSync(join(copy, 'test.mdb'), readFileSync(file).subarray(0, size + length))
      const reader = openLog(copy).log
      expect(reader.get('a')).toBe('kept')
      expect(put(reader, 'a', '!')).toBe(true)
      expect(openLog(copy).log.get('a')).toBe('kept!')
    }
    expect(read(openLog(path).log, 'a')).toBe('kept lost')
  })

  it('that are read while they are written are in force once they are complete', () => {
    const { path, log, file } = openLog()
    const writer = openLog(path)
    const size = statSync(file).size
    put(writer.log, 'a', 'whole')
    const line = readFileSync(file).subarray(size)
    truncateSync(file, size)
    appendFileSync(file, line.subarray(0, 20))
    expect(read(log, 'a')).toBeUndefined()
    appendFileSync(file, line.subarray(20))
    expect(read(log, 'a')).toBe('whole')
  })

  it('larger than the read buffer arrive complete', () => {
    const { path, log } = openLog()
    const large = 'ä'.repeat(200_000)
    put(log, 'a', large)
    put(log, 'b', 'after')
    expect(read(log, 'a')).toBe(large)
    const other = openLog(path).log
    expect([other.get('a'), other.get('b')]).toEqual([large, 'after'])
  })
})

describe('a file that is deleted', () => {
  it('alone, is created again by all its readers', () => {
    const { path, log, file } = openLog()
    const other = openLog(path).log
    put(log, 'a', 'before')
    rmSync(file)
    expect(read(log, 'a')).toBeUndefined()
    put(log, 'a', 'after')
    for (const reader of [other, openLog(path).log]) expect(read(reader, 'a')).toBe('after')
    expect(put(other, 'a', '!')).toBe(true)
    expect(read(log, 'a')).toBe('after!')
  })

  it('with its folder, is created again', () => {
    const { path, log } = openLog(join(temporaryFolder(), 'leases'))
    rmSync(path, { recursive: true })
    log.refresh()
    put(log, 'a', 'after')
    expect(openLog(path).log.get('a')).toBe('after')
  })

  it('and cannot be created again is unavailable, until it can be', () => {
    const { path, log } = openLog(join(temporaryFolder(), 'leases'))
    rmSync(path, { recursive: true })
    writeFileSync(path, 'a file in its place')
    for (const _ of [1, 2]) expect(() => log.refresh()).toThrow(LeaseError)
    rmSync(path)
    log.refresh()
    expect(put(log, 'a', 'after')).toBe(true)
  })

  it('or cut short by hand is read again from the beginning', () => {
    const { log, file } = openLog()
    put(log, 'a', 'kept')
    const { size } = statSync(file)
    put(log, 'a', ' lost')
    truncateSync(file, size)
    expect(read(log, 'a')).toBe('kept')
    expect(put(log, 'a', ' on')).toBe(true)
  })
})

it.each(['', 'a letter', '{"leasehold":"other"}\n', '[]\n', 'null\n'])(
  'a file with the content %j is not changed',
  (content) => {
    const path = temporaryFolder()
    const file = join(path, 'test.mdb')
    writeFileSync(file, content)
    expect(() => openLog(path)).toThrow(LeaseConfigurationError)
    expect(() => openLog(path)).toThrow('not a lease database, or is damaged')
    expect(readFileSync(file, 'utf8')).toBe(content)
  },
)

it('a durable change is on the disk before a decision rests on it, whichever process wrote it', () => {
  const flushes = vi.spyOn(LogFile.prototype, 'flush')
  onTestFinished(() => flushes.mockRestore())
  const { path, log } = openLog(temporaryFolder(), { durable: true })
  const other = openLog(path).log
  const flushed = (work: () => void): boolean => {
    flushes.mockClear()
    work()
    return flushes.mock.calls.length > 0
  }
  expect(flushed(() => put(log, 'a', 'own'))).toBe(true)
  expect(flushed(() => log.refresh())).toBe(false)
  expect(flushed(() => other.refresh())).toBe(false)
  expect(flushed(() => put(other, 'a', ' of another'))).toBe(false)
  expect(flushed(() => log.refresh())).toBe(true)
})

it('calls after close throw', () => {
  const { log } = openLog()
  log.close()
  expect(() => log.refresh()).toThrow('is closed')
  expect(() => put(log, 'a', 'late')).toThrow(LeaseUnavailableError)
})

it('a change that cannot be applied is read again, and leaves no partial value', () => {
  let fails = false
  const apply = (value = '', change: string): string => {
    if (fails) throw new RangeError('Maximum call stack size exceeded')
    return value + change
  }
  const { path, log } = openLog(temporaryFolder(), { kind: { ...text, apply } })
  const writer = openLog(path).log
  put(writer, 'a', 'one')
  put(writer, 'b', 'two')
  fails = true
  expect(() => log.refresh()).toThrow(LeaseError)
  fails = false
  expect([read(log, 'a'), read(log, 'b')]).toEqual(['one', 'two'])
})

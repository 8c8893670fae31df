import {
  appendFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseError, LeaseUnavailableError } from '@leasehold/core'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LeaseFolder } from '../src/lease-folder.js'
import { LogFile } from '../src/log-file.js'
import type { LogFacts } from '../src/log-lines.js'
import { RegisterLog, type RegisterLogOptions } from '../src/register-log.js'
import type { RegisterKind } from '../src/register-table.js'

type TextLog = RegisterLog<string, string>

/** Registers of text, to which each change appends. */
const text: RegisterKind<string, string> = {
  apply: (value = '', change) => value + change,
  whole: (value) => value,
}

interface Fixture {
  readonly path: string
  readonly log: TextLog
  readonly file: string
}

function openLog(path = temporaryFolder(), options: Partial<RegisterLogOptions<string, string>> = {}): Fixture {
  const folder = new LeaseFolder({ folder: path })
  const log = new RegisterLog({ folder, file: 'test.mdb', durable: false, kind: text, ...options })
  onTestFinished(() => log.close())
  return { path, log, file: join(path, 'test.mdb') }
}

/** Changes one register as the log is now. */
function put(log: TextLog, key: string, change: string): boolean {
  return log.attempt([{ key, change }]).accepted[0] === true
}

function read(log: TextLog, key: string): string | undefined {
  log.refresh()
  return log.get(key)
}

/** The files of the folder that belong to the log, beside the log itself. */
function drafts(path: string): string[] {
  return readdirSync(path).filter((name) => name.startsWith('test.mdb-'))
}

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

describe('a log that has grown', () => {
  const growth = 2_000

  function grow(log: TextLog, key: string, changes = 100): void {
    for (let n = 0; n < changes; n += 1) {
      log.refresh()
      expect(put(log, key, `${n % 10}`)).toBe(true)
    }
  }

  it('is rewritten with all current values, and leaves no other file', () => {
    const { path, log, file } = openLog(temporaryFolder(), { growth })
    put(log, 'a', 'kept')
    grow(log, 'b')
    expect(statSync(file).size).toBeLessThan(2 * growth)
    expect(drafts(path)).toEqual([])
    const other = openLog(path).log
    expect(other.get('a')).toBe('kept')
    expect(other.get('b')).toHaveLength(100)
    expect(other.facts).toEqual(log.facts)
  })

  it('is followed by its readers, from file to file', () => {
    const { path, log } = openLog(temporaryFolder(), { growth })
    const other = openLog(path, { growth }).log
    const idle = openLog(path, { growth }).log
    for (let turn = 0; turn < 10; turn += 1) {
      grow(log, 'a', 20)
      grow(other, 'a', 20)
    }
    expect(read(idle, 'a')).toHaveLength(400)
    expect(put(idle, 'a', '!')).toBe(true)
    expect(read(log, 'a')).toHaveLength(401)
  })

  it('ignores changes after its end, and loses no change just before it', () => {
    const { path, log, file } = openLog(temporaryFolder(), { growth })
    const late = openLog(path).log
    const ended = join(path, 'ended')
    linkSync(file, ended)
    grow(log, 'a')
    expect(statSync(ended).ino).not.toBe(statSync(file).ino)
    // It knows the old file only, and its line comes behind the end.
    expect(put(late, 'b', 'too late')).toBe(false)
    expect(read(log, 'b')).toBeUndefined()
    late.refresh()
    expect(put(late, 'b', 'in time')).toBe(true)
    expect(read(log, 'b')).toBe('in time')
  })

  it('is followed also if the thread that wrote its end was terminated', () => {
    const { path, log, file } = openLog()
    put(log, 'a', 'kept')
    const draft = 'test.mdb-2-draft'
    const header = JSON.parse(
      readFileSync(file, 'utf8')
        .split('\n')
        .find((line) => line !== '') ?? '',
    )
    const change = readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? ''
    const content = `${JSON.stringify({ ...header, generation: 2 })}\n${change}\n`
    writeFileSync(join(path, draft), content)
    const base = statSync(file).size
    appendFileSync(file, `\n${JSON.stringify({ seal: { base, next: draft } })}\n`)
    expect(put(log, 'a', ' too late')).toBe(false)
    expect(read(log, 'a')).toBe('kept')
    expect(drafts(path)).toEqual([])
    expect(put(log, 'a', ' on')).toBe(true)
    expect(openLog(path).log.get('a')).toBe('kept on')
  })

  it('is not ended by a writer that did not know the last change', () => {
    const { path, log, file } = openLog()
    const base = statSync(file).size
    put(log, 'a', 'kept')
    appendFileSync(file, `\n${JSON.stringify({ seal: { base, next: 'test.mdb-2-draft' } })}\n`)
    expect(read(log, 'a')).toBe('kept')
    expect(put(log, 'a', ' on')).toBe(true)
    expect(openLog(path).log.get('a')).toBe('kept on')
  })

  it('is not ended by a writer that read the last change before it was complete', () => {
    const { path, log, file } = openLog()
    const size = statSync(file).size
    put(log, 'a', 'kept')
    const line = readFileSync(file).subarray(size)
    // The system had written all but the last line break when the writer was killed.
    truncateSync(file, size + line.length - 1)
    const seal = JSON.stringify({ seal: { base: size + 1, next: 'test.mdb-2-draft' } })
    appendFileSync(file, `\n${seal}\n`)
    const reader = openLog(path).log
    expect(reader.get('a')).toBe('kept')
    expect(put(reader, 'a', ' on')).toBe(true)
  })

  it('that names a missing file: the error says how to fix it', () => {
    const { log, file } = openLog()
    appendFileSync(file, `\n${JSON.stringify({ seal: { base: 1e6, next: 'test.mdb-2-gone' } })}\n`)
    expect(() => log.refresh()).toThrow(LeaseUnavailableError)
    expect(() => log.refresh()).toThrow('test.mdb-2-gone')
  })

  it('leaves out retired values, and adds one that is changed meanwhile', () => {
    let meanwhile: (() => void) | undefined
    const retire = (value: string, facts: LogFacts): LogFacts | undefined => {
      const work = meanwhile
      meanwhile = undefined
      work?.()
      return ['old a', 'old b'].includes(value) ? { ...facts, last: value } : undefined
    }
    const { path, log } = openLog(temporaryFolder(), { growth, kind: { ...text, retire } })
    const other = openLog(path).log
    put(log, 'a', 'old a')
    put(log, 'b', 'old b')
    put(log, 'c', 'kept')
    meanwhile = () => {
      other.refresh()
      for (const change of [', changed', ' twice']) expect(put(other, 'a', change)).toBe(true)
      expect(put(other, 'c', ', changed')).toBe(true)
    }
    grow(log, 'd')
    expect(meanwhile).toBeUndefined()
    for (const reader of [log, other, openLog(path).log]) {
      expect(['a', 'b', 'c'].map((key) => read(reader, key))).toEqual([
        'old a, changed twice',
        undefined,
        'kept, changed',
      ])
      expect(reader.facts).toEqual({ last: 'old b' })
    }
    expect(put(other, 'b', 'new')).toBe(true)
    expect(read(log, 'b')).toBe('new')
  })

  it('is ended once if two rewrite it at the same time, and the file of the other is removed', () => {
    const path = temporaryFolder()
    let isFirst = true
    const retire = (): undefined => {
      if (!isFirst) return undefined
      isFirst = false
      const other = openLog(path, { growth }).log
      put(other, 'b', 'kept')
      grow(other, 'c', 50)
    }
    const { log } = openLog(path, { growth, kind: { ...text, retire } })
    put(log, 'a', 'kept')
    while (isFirst) grow(log, 'd', 1)
    expect(drafts(path)).toEqual([])
    expect(['a', 'b'].map((key) => read(log, key))).toEqual(['kept', 'kept'])
    expect(read(log, 'c')).toHaveLength(50)
  })

  it('removes the files of threads that were terminated during a rewrite', () => {
    const { path, log } = openLog(temporaryFolder(), { growth })
    for (const draft of ['test.mdb-0-a', 'test.mdb-2-b']) writeFileSync(join(path, draft), 'half')
    // Of a generation to come: may be named yet.
    writeFileSync(join(path, 'test.mdb-99-c'), 'half')
    grow(log, 'a')
    expect(drafts(path)).toEqual(['test.mdb-99-c'])
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

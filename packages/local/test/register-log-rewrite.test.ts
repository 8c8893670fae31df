import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { LeaseUnavailableError } from '@leasehold/core'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import type { LogFacts } from '../src/log-lines.js'
import { openLog, put, read, type TextLog, text } from './support/open-log.js'

/** The files of the folder that belong to the log, beside the log itself. */
function drafts(path: string): string[] {
  return readdirSync(path).filter((name) => name.startsWith('test.mdb-'))
}

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

  it('is not rewritten while most of it is in force', () => {
    const { path, log, file } = openLog(temporaryFolder(), { growth })
    const { ino } = statSync(file)
    // A name of its own keeps the first file: a later one could have the same number otherwise.
    linkSync(file, join(path, 'first'))
    for (let n = 0; n < 1_000; n += 1) expect(put(log, `register ${n}`, 'value')).toBe(true)
    expect(statSync(file).ino).toBe(ino)
    expect(statSync(file).size).toBeGreaterThan(10 * growth)
    const { size } = statSync(file)
    grow(log, 'register 0', 3_000)
    expect(statSync(file).ino).not.toBe(ino)
    expect(statSync(file).size).toBeLessThan(2 * size)
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

  it.each(['../mine', 'mine', 'test.mdb-/../mine'])(
    'that names %s, which is no draft of it, does not move that file',
    (next) => {
      const { path, log, file } = openLog(join(temporaryFolder(), 'leases'))
      mkdirSync(join(path, 'test.mdb-'))
      const mine = join(path, next)
      writeFileSync(mine, 'a letter')
      appendFileSync(file, `\n${JSON.stringify({ seal: { base: 1e6, next } })}\n`)
      expect(() => log.refresh()).toThrow(LeaseUnavailableError)
      expect(readFileSync(mine, 'utf8')).toBe('a letter')
    },
  )

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

  it('has the changes that several registers shared meanwhile', () => {
    let meanwhile: (() => void) | undefined
    const retire = (value: string, facts: LogFacts): LogFacts | undefined => {
      const work = meanwhile
      meanwhile = undefined
      work?.()
      return value === 'old' ? facts : undefined
    }
    const { path, log } = openLog(temporaryFolder(), { growth, kind: { ...text, retire } })
    const other = openLog(path).log
    // The registers of the successor have other numbers than those of the log.
    for (const key of ['a', 'b', 'c', 'd']) put(log, key, key < 'c' ? 'old' : key)
    meanwhile = () => {
      other.refresh()
      other.attempt(['b', 'c', 'd', 'new'].map((key) => ({ key, change: ', changed' })))
      other.attempt(['b', 'd', 'new'].map((key) => ({ key, change: ', twice' })))
    }
    grow(log, 'e')
    expect(meanwhile).toBeUndefined()
    for (const reader of [log, other, openLog(path).log]) {
      expect(['a', 'b', 'c', 'd', 'new'].map((key) => read(reader, key))).toEqual([
        undefined,
        'old, changed, twice',
        'c, changed',
        'd, changed, twice',
        ', changed, twice',
      ])
    }
    const changed = other.attempt(['b', 'c', 'd', 'new'].map((key) => ({ key, change: '!' })))
    expect(changed.accepted).toEqual([true, true, true, true])
    expect(read(log, 'd')).toBe('d, changed, twice!')
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

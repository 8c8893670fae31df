import { describe, expect, it } from 'vitest'
import { blockedFinding } from '../../src/explain/blocked.js'

const call = (name: string, file: string) => ({ function: name, file, line: 12, column: 3 })
const stack = [
  call('read', 'node:fs'),
  call('load', 'node_modules/loader/index.js'),
  call('parse', 'src/import.ts'),
  call('main', 'src/main.ts'),
]
const native = { code: 'native', message: 'no JavaScript ran' } as const

describe('the finding about a blocked event loop', () => {
  it('names the innermost function of the application', () => {
    const { cause, because } = blockedFinding({ duration: 4_100, cpu: 4_000, watched: 4_000, stack }, 'one')
    expect(cause).toBe('busy-loop')
    expect(because).toContain('its event loop was blocked for 4.1s in `parse` (src/import.ts:12:3), in which')
  })

  it('names a function of a library, or of Node, where there is no other', () => {
    const because = (given: typeof stack) => blockedFinding({ duration: 1_000, cpu: 900, stack: given }, 'one').because
    expect(because(stack.slice(0, 2))).toContain('in `load` (node_modules')
    expect(because(stack.slice(0, 1))).toContain('in `read` (node:fs')
  })

  it('says why there is no stack', () => {
    const finding = blockedFinding({ duration: 1_000, cpu: 900, watched: 900, noStack: native }, 'one')
    expect(finding).toMatchObject({
      cause: 'busy-loop',
      because: expect.stringContaining('(no stack: no JavaScript ran)'),
    })
    expect(finding.stack).toBeUndefined()
  })

  it('tells a synchronous call from a process that was stopped, by the thread that ran meanwhile', () => {
    const of = (watched: number) => blockedFinding({ duration: 4_000, cpu: 10, watched, noStack: native }, 'one').cause
    expect([of(3_800), of(1_000), of(0)]).toEqual(['synchronous-wait', 'stopped', 'stopped'])
  })

  it('says that code ran, where the machine gave it little of the processor', () => {
    const finding = blockedFinding({ duration: 5_800, cpu: 910, watched: 5_000, stack }, 'one')
    expect(finding).toMatchObject({ cause: 'busy-loop', because: expect.stringContaining('in `parse`') })
  })

  it('blames no function where the process was stopped for most of the time', () => {
    const finding = blockedFinding({ duration: 8_000, cpu: 700, watched: 900, stack }, 'one')
    expect(finding.cause).toBe('stopped')
    expect(finding.because).not.toContain('parse')
    expect(finding.stack).toBeUndefined()
  })
})

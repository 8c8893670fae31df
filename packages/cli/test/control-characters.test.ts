import { createLease, LeaseConfigurationError, type StoreLease } from '@leasehold/core'
import { silentLogger } from '@leasehold/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { failureOf } from '../src/failure.js'
import { loggerOf } from '../src/store-selection.js'
import type { Terminal } from '../src/terminal.js'
import { configOfStore } from './support/config-file.js'
import { TestTerminal } from './support/test-terminal.js'

/** ESC, CR, a C1 control, DEL, a bidirectional override, a line separator, and a tag character of another plane. */
const MARKS = '\u001b]0;title\u0007\r\u009b31m\u007f\u202e\u2028\u{e0041}'
const SAFE = '\\u{1b}]0;title\\u{7}\\u{d}\\u{9b}31m\\u{7f}\\u{202e}\\u{2028}\\u{e0041}'

/** Anything that a terminal may obey, or that changes the order of what it shows. A line may end, and a table has tabs. */
const harmful = /[^\P{Cc}\n\t]|[\p{Cf}\u2028\u2029]/u

/** A name held by an owner whose texts have control characters. */
async function held(terminal: TestTerminal): Promise<StoreLease> {
  const owner = `mallory${MARKS}`
  const lease = createLease(terminal.open(), 'x', { owner, logger: silentLogger })
  onTestFinished(() => lease.close())
  await lease.acquire({ metadata: { note: MARKS } })
  return lease
}

describe('control characters of another user do not reach the terminal', () => {
  it.each(['status x', 'list', 'watch x --lines 1'])('from %s', async (line) => {
    const terminal = new TestTerminal()
    await held(terminal)
    for (const isTTY of [false, true]) {
      const { output, raw, errors } = await terminal.run(line, {
        isTTY,
        env: { NO_COLOR: '1', XDG_STATE_HOME: terminal.folder },
      })
      expect(output).toContain(`mallory${SAFE}`)
      expect(raw + errors).not.toMatch(harmful)
    }
  })

  it.each(['status x -o json', 'list -o json', 'watch x --lines 1 -o json', 'break x --yes -o json'])(
    'from %s, whose values are the same',
    async (line) => {
      const terminal = new TestTerminal()
      const { settings } = await held(terminal)
      const { raw } = await terminal.run(line)
      expect(raw).not.toMatch(harmful)
      const [record] = [JSON.parse(raw)].flat()
      expect(record.owner).toBe(settings.owner)
    },
  )

  it('from the question of break', async () => {
    const terminal = new TestTerminal()
    await held(terminal)
    const { errors } = await terminal.run('break x', { isTTY: true, typed: 'n\n' })
    expect(errors).toContain(`mallory${SAFE}`)
    expect(errors).not.toMatch(harmful)
  })

  it('from the failure of a store', async () => {
    const terminal = new TestTerminal()
    const { code, errors } = await terminal.run(['status', 'x', '--config', configOfStore('hostile-lease')])
    expect(code).toBe(69)
    expect(errors.match(/\n/g)).toHaveLength(1)
    expect(errors).toContain('\\u{a}leasehold: all is well')
    expect(errors).not.toMatch(harmful)
  })

  it('from errors and log lines of the library', () => {
    const error = new LeaseConfigurationError(`held by ${MARKS}`)
    expect(failureOf(error).message).toBe(`held by ${SAFE}`)
    expect(failureOf(new Error(`first${MARKS}`)).message).not.toMatch(harmful)
    const written: string[] = []
    const terminal = { errors: { write: (text: string) => written.push(text) } }
    loggerOf(terminal as unknown as Terminal).warn(`held by ${MARKS}`, new Error(`because of ${MARKS}`))
    expect(written).toEqual([`leasehold: warning: held by ${SAFE}: because of ${SAFE}\n`])
  })
})

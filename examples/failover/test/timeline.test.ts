import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Fleet } from '../src/fleet.js'
import { type Figure, toText } from '../src/summary.js'
import { Timeline } from '../src/timeline.js'

class Terminal {
  readonly isTTY = true
  readonly columns: number
  readonly #colours: boolean
  text = ''

  constructor(columns: number, colours = false) {
    this.columns = columns
    this.#colours = colours
  }

  hasColors(): boolean {
    return this.#colours
  }

  write(text: string): boolean {
    this.text += text
    return true
  }

  get stream(): NodeJS.WriteStream {
    return this as unknown as NodeJS.WriteStream
  }

  get lines(): readonly string[] {
    return stripVTControlCharacters(this.text).split('\n')
  }
}

const status = { type: 'status', remaining: 2_900, stashed: 999, written: 12_345 }
const workers = [
  { name: 'anna', condition: 'killed' },
  { name: 'berta', condition: 'running', status: { ...status, state: 'active', token: '1763808000000000001' } },
  { name: 'carla', condition: 'running', status: { ...status, state: 'acquiringLease' } },
]
const fleet = { workers } as unknown as Fleet

function drawnOn(terminal: Terminal): Terminal {
  const timeline = new Timeline(fleet, terminal.stream, 3_000, () => 0)
  timeline.draw()
  timeline.log('SIGKILL to anna, the holder: it cannot release its lease, so the ttl must expire (1763808000000000001)')
  return terminal
}

describe('the timeline', () => {
  it.each([60, 80, 200])('fits every line into %d columns', (columns) => {
    const { lines } = drawnOn(new Terminal(columns))
    expect(lines.length).toBeGreaterThan(4)
    for (const line of lines) expect(line.length).toBeLessThan(columns)
  })

  it('shows the fencing token where there is room', () => {
    const holder = (columns: number) => drawnOn(new Terminal(columns)).lines.find((line) => line.includes('HOLDS'))
    expect(holder(120)).toContain('token 1763808000000000001')
    expect(holder(80)).toContain('2.9 s valid   12345 written')
    expect(holder(60)).toContain('2.9 s valid')
  })

  it('erases the lines that it has drawn, and no other', () => {
    expect(drawnOn(new Terminal(60)).text).toContain('\u001b[3A\u001b[J')
  })

  it('uses colours only where the terminal has them', () => {
    const withoutCursor = ({ text }: Terminal) => text.replaceAll('\u001b[3A\u001b[J', '')
    expect(withoutCursor(drawnOn(new Terminal(80)))).not.toContain('\u001b[')
    expect(drawnOn(new Terminal(80, true)).text).toContain('\u001b[32m')
  })
})

describe('the summary', () => {
  const figures: readonly Figure[] = [
    { label: 'overlap, over 4 holdings and 3,528 looks at checkLease()', value: '0.000 ms', holds: true },
    { label: 'takeovers', value: '3', holds: false },
  ]

  it.each([60, 80])('fits every line into %d columns', (columns) => {
    const terminal = new Terminal(columns)
    terminal.write(toText(figures, terminal.stream))
    for (const line of terminal.lines) expect(line.length).toBeLessThan(columns)
    expect(terminal.text).toContain('0.000 ms')
  })
})

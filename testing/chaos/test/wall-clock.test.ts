import { afterEach, describe, expect, it } from 'vitest'
import { WallClock } from '../src/client/wall-clock.js'

const HOUR = 3_600_000
const machine = Date

afterEach(() => {
  globalThis.Date = machine
})

describe('the wall clock of a client', () => {
  it('is wrong by what it was given, and by its steps', () => {
    const clock = new WallClock(HOUR)
    clock.step(-3 * HOUR)
    expect(Math.round((clock.now() - machine.now()) / HOUR)).toBe(-2)
  })

  it('shows whole milliseconds', () => {
    expect(new WallClock(0.25).now() % 1).toBe(0)
  })

  it('is read by all code that asks for the time, and by nothing else', () => {
    const clock = new WallClock(0)
    clock.replaceDate()
    clock.step(5 * HOUR)
    const hours = (instant: number): number => Math.round((instant - machine.now()) / HOUR)
    expect(hours(Date.now())).toBe(5)
    expect(hours(Date.parse(new Date().toISOString()))).toBe(5)
    expect(new Date(0).toISOString()).toBe('1970-01-01T00:00:00.000Z')
    expect(new Date()).toBeInstanceOf(machine)
    expect(Date.parse('1970-01-01T00:00:01Z')).toBe(1_000)
  })
})

import { afterEach, describe, expect, it } from 'vitest'
import { largestOf, partsOf } from '../../client/format/durations.js'
import { Formats } from '../../client/format/formats.js'

const plain = (text: string) => text.replace(/[\u{a0}\u{202f}\u{2009}]/gu, ' ')

describe('durations', () => {
  it('have the two largest units', () => {
    expect(partsOf(93_784_000)).toEqual([
      ['day', 1],
      ['hour', 2],
    ])
    expect(partsOf(3_605_000)).toEqual([['hour', 1]])
    expect(partsOf(999)).toEqual([['second', 0]])
    expect(partsOf(-5)).toEqual([['second', 0]])
  })

  it('have the largest whole unit from now', () => {
    expect(largestOf(-100_000)).toEqual(['minute', 1])
    expect(largestOf(-31 * 60_000)).toEqual(['minute', 31])
    expect(largestOf(7_199_000)).toEqual(['hour', 1])
    expect(largestOf(400)).toEqual(['second', 0])
  })
})

describe('Formats', () => {
  const native = Object.getOwnPropertyDescriptor(Intl, 'DurationFormat')
  afterEach(() => {
    if (native === undefined) Reflect.deleteProperty(Intl, 'DurationFormat')
    else Object.defineProperty(Intl, 'DurationFormat', native)
  })

  it('writes durations in the locale, without Intl.DurationFormat', () => {
    Reflect.deleteProperty(Intl, 'DurationFormat')
    expect(new Formats('en-GB').duration(3_725_000)).toBe('1h 2m')
    expect(plain(new Formats('de-DE').spokenDuration(3_725_000))).toBe('1 Stunde, 2 Minuten')
    expect(new Formats('en-GB').duration(0)).toBe('0s')
  })

  it('uses Intl.DurationFormat where the browser has it', () => {
    class DurationFormat {
      format(duration: object): string {
        return JSON.stringify(duration)
      }
    }
    Object.defineProperty(Intl, 'DurationFormat', { value: DurationFormat, configurable: true, writable: true })
    expect(new Formats('en-GB').duration(3_725_000)).toBe('{"hours":1,"minutes":2}')
    expect(new Formats('en-GB').duration(0)).toBe('0s')
  })

  it('writes settings and measures with tenths of a second', () => {
    const formats = new Formats('en-GB')
    expect(formats.exactDuration(2_500)).toBe('2.5s')
    expect(formats.exactDuration(200)).toBe('0.2s')
    expect(formats.exactDuration(10_900)).toBe('10s')
    expect(plain(new Formats('de-DE').exactDuration(2_500))).toBe('2,5 Sek.')
  })

  it('writes times with the date only if it is another day', () => {
    const formats = new Formats('en-GB', 'Europe/Berlin')
    const noon = Date.UTC(2026, 10, 28, 11, 0, 5)
    expect(formats.time(noon, noon)).toBe('12:00:05')
    expect(formats.minutes(noon, noon)).toBe('12:00')
    expect(formats.time(noon, noon + 86_400_000)).toContain('28 Nov 2026')
  })

  it('writes times from now, and numbers', () => {
    const formats = new Formats('en-GB')
    expect(formats.relative(0, 180_000)).toBe('3 minutes ago')
    expect(formats.relative(180_000, 0)).toBe('in 3 minutes')
    expect(formats.number(10_000)).toBe('10,000')
    expect(new Formats('de-DE').number(10_000)).toBe('10.000')
  })
})

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const css = readFileSync(new URL('../../client/css/colours.css', import.meta.url), 'utf8')

function colours(scheme: 'light' | 'dark'): ReadonlyMap<string, string> {
  const [light = '', dark = ''] = css.split('@media')
  const text = scheme === 'light' ? light : light + dark
  return new Map(
    [...text.matchAll(/--([a-z0-9-]+): (#[0-9a-f]{6})/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

/** The relative luminance of WCAG 2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const grounds = ['ground', 'panel', 'raised', 'hover']
const texts = ['ink', 'ink-soft', 'accent', 'held', 'expired', 'breaking', 'broken', 'free']
const owners = [1, 2, 3, 4, 5, 6].map((tone) => `owner-${tone}`)

const textPairs: readonly (readonly [text: string, ground: string])[] = [
  ...grounds.flatMap((ground) => texts.map((text) => [text, ground] as const)),
  ...owners.map((owner) => ['ink', owner] as const),
  ['ink', 'accent-ground'],
  ['ink-soft', 'accent-ground'],
  ['on-accent', 'accent'],
  ['warning-ink', 'warning-ground'],
  ['alarm-ink', 'alarm-ground'],
  ['broken', 'alarm-ground'],
  ['panel', 'broken'],
  ['panel', 'ink'],
]

const shapePairs: readonly (readonly [shape: string, ground: string])[] = [
  ['line-strong', 'ground'],
  ['line-strong', 'panel'],
  ['held', 'bar-ground'],
  ['expired', 'bar-ground'],
  ['broken', 'bar-ground'],
]

describe.each(['light', 'dark'] as const)('the %s scheme', (scheme) => {
  const of = (name: string) => colours(scheme).get(name) ?? expect.fail(`there is no colour ${name}`)

  it.each(textPairs)('has text in %s on %s that can be read', (text, ground) => {
    expect(contrast(of(text), of(ground))).toBeGreaterThanOrEqual(4.5)
  })

  it.each(shapePairs)('has shapes in %s on %s that can be seen', (shape, ground) => {
    expect(contrast(of(shape), of(ground))).toBeGreaterThanOrEqual(3)
  })
})

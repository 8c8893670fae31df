import { expect, it } from 'vitest'
import { durationSetting, durationText } from '../src/duration-text.js'

it.each([
  [0, '0ms'],
  [849.6, '850ms'],
  [12_345, '12.3s'],
  [59_949, '59.9s'],
  [59_960, '1m'],
  [200_000, '3m 20s'],
  [3_599_999, '1h'],
  [187_200_000, '2d 4h'],
  [Number.POSITIVE_INFINITY, 'no end'],
])('%d ms are %s for people', (duration, text) => {
  expect(durationText(duration)).toBe(text)
})

it.each([
  [12_000, '12s'],
  [1_500, '1500ms'],
  [Number.POSITIVE_INFINITY, 'infinite'],
])('%d ms are %s in a configuration', (duration, text) => {
  expect(durationSetting(duration)).toBe(text)
})

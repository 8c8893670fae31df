import { expect, it } from 'vitest'
import { checkHistory, drawSvg, drawTable, type History, type Violation } from '../../src/index.js'
import { HistoryOf } from './history-of.js'

const two = { client: 2 }

function overlapping(): { readonly history: History; readonly violation: Violation } {
  const history = new HistoryOf()
    .acquired(0, 10, 1n, 100)
    .held(80, 81, 1n, 180)
    .fault(20, 40)
    .acquired(50, 60, 2n, 160, two)
    .held(70, 71, 2n, 160, two)
    .lost(181, 1n, 'expired')
    .until(1_000)
  const [violation] = checkHistory(history, { longestRecovery: 10_000 }).violations
  if (violation === undefined) throw new Error('No violation was found.')
  return { history, violation }
}

it('draws a violation as a table', () => {
  const { history, violation } = overlapping()
  const table = drawTable(history, violation)
  expect(table).toContain('x: exclusion at 60.0 ms: grant 1 of client 1 and grant 2 of client 2')
  expect(table).toMatch(/ 20\.0 {2}\*\* kill-server of server 1 begins/)
  expect(table).toMatch(/ 60\.0 {33}\* acquire token 2 granted/)
  expect(table).toMatch(/ 60\.0 {2}\*\* exclusion/)
})

it('draws a violation', () => {
  const { history, violation } = overlapping()
  const svg = drawSvg(history, violation)
  expect(svg).toMatch(/^<svg .*<\/svg>\n$/s)
  expect(svg).toContain('<title>token 2</title>')
  expect(svg).toContain('<title>kill-server of server 1</title>')
  expect(svg).toContain('exclusion at 60 ms')
})

import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('on each kind of server, a request in progress keeps its lease at the end, and another instance leads after a kill', () => {
  const linesOf = (kind: string): readonly string[] => [
    `${kind}: anna leads, and both are healthy`,
    `${kind}: anna was asked to end, and ends the request with its lease`,
    `${kind}: anna exits with 0, berta leads`,
    `${kind}: berta was killed, carla leads`,
    `${kind}: no tick ran twice`,
  ]
  expect(runExample('http')).toEqual({ status: 0, lines: ['http', 'express', 'hono'].flatMap(linesOf), stderr: '' })
})

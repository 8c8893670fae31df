import { colours, LaneDrawing } from '@leasehold/simulator/drawing'
import { holdingOf } from '../checks/holding.js'
import type { Violation } from '../checks/report.js'
import { seenGrants } from '../checks/seen-grant.js'
import { describeOperation } from '../history/describe-operation.js'
import type { AppliedFault, History } from '../history/history.js'
import { shownPart } from './shown-part.js'

/**
 * A drawing of what happened with the name around a violation: a lane for the servers and each client; in green, when a grant
 * was certainly valid; faults above, and below, in red, the calls that show the violation.
 */
export function drawSvg(history: History, violation: Violation): string {
  const { from: begin } = history
  const { check, name, at, message } = violation
  const part = shownPart(history, violation)
  const drawing = new LaneDrawing({
    title: `${name}, ${Math.round(part.from - begin)} to ${Math.round(part.to - begin)} ms; ${history.title}`,
    lanes: ['servers', ...Array.from({ length: history.clients }, (_, client) => `client ${client + 1}`)],
    ...part,
  })
  for (const grant of seenGrants(history)) {
    const holding = grant.name === name ? holdingOf(grant) : undefined
    if (holding === undefined) continue
    drawing.bar(grant.client, { ...holding, colour: colours.held, title: `token ${grant.token}` })
  }
  for (const fault of history.faults) {
    drawing.thinBar(laneOf(fault), { ...fault, colour: faultColour(fault), title: `${fault.kind} of ${fault.target}` })
  }
  for (const { notice, client, name: of, at: lostAt, reason, token } of history.notices) {
    if (notice !== 'lost' || of !== name) continue
    drawing.mark(client, lostAt, colours.violation, `token ${token} lost: ${reason ?? 'no reason'}`)
  }
  for (const operation of violation.operations) {
    const { client, from, to } = operation
    drawing.lowBar(client, { from, to, colour: colours.violation, title: describeOperation(operation) })
  }
  drawing.violation(at, `${check} at ${Math.round(at - begin)} ms: ${message}`)
  return drawing.toString()
}

/** The servers have one lane. */
function laneOf({ target }: AppliedFault): number {
  return Number(/^client (\d+)$/.exec(target)?.[1] ?? 0)
}

function faultColour({ kind }: AppliedFault): string {
  if (kind.startsWith('kill')) return colours.crashed
  return kind.startsWith('freeze') ? colours.paused : colours.network
}

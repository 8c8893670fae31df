import { readFile, writeFile } from 'node:fs/promises'
import { shownText } from '@leasehold/core/internal'
import { type Recording, RecordingError, type Replay, readRecording } from '@leasehold/recorder/internal'
import type { Action } from '../command-declaration.js'
import type { explain as declaration } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { frameText } from '../explain/blocked.js'
import { clockText, type Explanation, explain } from '../explain/explanation.js'
import { drawExplanation } from '../explain/timeline-svg.js'
import { type Terminal, writeJSON } from '../terminal.js'

/** Says why leases were lost. */
export const explainLosses: Action<typeof declaration> = async ({ operands, options }, terminal) => {
  const recordings = await Promise.all(operands.map(read))
  const explanation = explain(recordings, options.lease)
  if (options.output === 'json') writeJSON(terminal, toJSON(explanation))
  else print(explanation, terminal)
  if (options.svg !== undefined) await writeFile(options.svg, drawExplanation(explanation))
  return explanation.replay.difference === undefined ? exitCodes.ok : exitCodes.no
}

async function read(file: string): Promise<Recording> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    throw new RecordingError(`${file}: ${error instanceof Error ? error.message : error}`)
  }
  return readRecording(text, file)
}

function print({ verdicts, processes, replay }: Explanation, { output }: Terminal): void {
  const write = (line: string): void => {
    output.write(`${shownText(line)}\n`)
  }
  for (const { sentences, finding } of verdicts) {
    for (const sentence of sentences) write(sentence)
    write(`Cause: ${finding.cause}`)
    for (const call of finding.stack ?? []) write(`    at ${frameText(call)}`)
    output.write('\n')
  }
  if (verdicts.length === 0) write('No lease was lost in these recordings.')
  for (const { label, shift } of processes) {
    if (shift === 0) continue
    const direction = shift > 0 ? 'slow' : 'fast'
    write(
      `The wall clock of ${label} was ${Math.round(Math.abs(shift))} ms or more ${direction}: the times are corrected.`,
    )
  }
  write(replayText(replay))
}

function replayText({ events, difference }: Replay): string {
  if (difference === undefined) return `The replay of ${events} events agrees with the recordings.`
  const { rules, at, event, wall } = difference
  return (
    `The replay differs: at ${clockText(wall)} (${Math.round(at)} ms), this version decides otherwise for lease ` +
    `'${rules.name}' after the event ${event.type}. The process ran another version, or this is a fault: please report it.`
  )
}

function toJSON({ verdicts, processes, replay }: Explanation): unknown {
  return {
    losses: verdicts.map(({ lease, owner, token, at, finding, sentences }) => ({
      ...{ lease, owner, fencingToken: String(token), at: new Date(at).toISOString() },
      ...{ cause: finding.cause, process: finding.process, stack: finding.stack, sentences },
    })),
    processes: processes.map(({ id, label, shift }) => ({ id, label, shift })),
    replay: { events: replay.events, agrees: replay.difference === undefined },
  }
}

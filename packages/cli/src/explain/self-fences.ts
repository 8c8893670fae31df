import type { Recording } from '@leasehold/recorder/internal'
import { durationText } from '../duration-text.js'
import { BUSY_PART, type Finding } from './causes.js'
import type { ProcessStory } from './process-story.js'

/** A holder that was ended by its self-fence, from what its watching thread wrote. */
export interface FencedHold {
  readonly process: ProcessStory
  readonly name: string
  readonly owner: string
  readonly token: bigint
  readonly at: number
  readonly silentSince: number
  readonly finding: Finding
}

export function fencedHolds(
  recordings: readonly Recording[],
  processes: readonly ProcessStory[],
): readonly FencedHold[] {
  return recordings.flatMap(({ header, leases, words: [words] }) => {
    const process = processes.find(({ id }) => id === header.process.id)
    if (words === undefined || process === undefined) return []
    const { endedAt, silentSince, cpu } = words
    const silence = endedAt - silentSince
    const isBusy = cpu >= silence * BUSY_PART
    const because =
      `its event loop did not turn for ${durationText(silence)}, in which its process used ${durationText(cpu)} of processor ` +
      `time: ${isBusy ? 'code ran without a pause' : 'it waited, or was stopped'}, until its self-fence ended it`
    const finding: Finding = { cause: isBusy ? 'busy-loop' : 'stopped', because, process: process.id }
    return leases.flatMap(({ rules: { name, owner }, state }) => {
      if (state.phase !== 'held' && state.phase !== 'jeopardy') return []
      const token = state.grant.fencingToken
      return [{ process, name, owner, token, at: endedAt, silentSince, finding }]
    })
  })
}

import type { Recording } from '@leasehold/recorder/internal'
import { blockedFinding } from './blocked.js'
import type { Finding } from './causes.js'
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
    const { endedAt, silentSince } = words
    const blocked = { ...words, duration: endedAt - silentSince }
    const finding = blockedFinding(blocked, process.id, ', until its self-fence ended it')
    return leases.flatMap(({ rules: { name, owner }, state }) => {
      if (state.phase !== 'held' && state.phase !== 'jeopardy') return []
      const token = state.grant.fencingToken
      return [{ process, name, owner, token, at: endedAt, silentSince, finding }]
    })
  })
}

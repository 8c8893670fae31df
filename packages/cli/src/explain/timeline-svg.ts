import { clockText, type Explanation } from './explanation.js'
import type { ProcessStory } from './process-story.js'

const LEFT = 190
const WIDTH = 900
const LANE = 44
const TOP = 46

const colours = { held: '#2e9e5b', jeopardy: '#d9822b', stall: '#8a8a8a', lost: '#d0342c' } as const

/** How much before the first loss, and after the last, is drawn, as a part of the time in between and in milliseconds. */
const LEAST_MARGIN = 5_000

/** A drawing: a lane for each lease of each process, the holds in green, stalls in grey, calls below, losses in red. */
export function drawExplanation({ processes, verdicts }: Explanation): string {
  const lanes = processes.flatMap((process) => process.leases.map((lease) => ({ process, lease })))
  const span = spanOf(
    processes,
    verdicts.map(({ at }) => at),
  )
  const x = (at: number): number => {
    const part = (at - span.from) / (span.to - span.from)
    return Math.round((LEFT + Math.min(Math.max(part, 0), 1) * WIDTH) * 10) / 10
  }
  const height = TOP + lanes.length * LANE + 20 + verdicts.length * 18
  const parts = [text(8, 18, `${clockText(span.from)} to ${clockText(span.to)} UTC`), legend()]
  lanes.forEach(({ process, lease }, lane) => {
    const y = TOP + lane * LANE
    const shifted = (at: number): number => x(at + process.shift)
    parts.push(text(8, y + 14, `${lease.owner}: ${lease.name}`, 26), text(8, y + 28, process.label, 26, '#666'))
    for (const { from, to, validUntil, grant } of lease.holds) {
      const end = shifted(to ?? process.header.wall)
      parts.push(
        bar(
          shifted(from),
          end,
          y + 4,
          16,
          colours.held,
          `fencing token ${grant.fencingToken}, valid until ${clockText(validUntil)}`,
        ),
      )
    }
    for (const { at, event } of process.machine) {
      if (event.type !== 'stall') continue
      parts.push(
        bar(
          shifted(at - event.duration),
          shifted(at),
          y + 4,
          16,
          colours.stall,
          `blocked for ${Math.round(event.duration)} ms`,
        ),
      )
    }
    for (const { sentAt, endedAt, outcome, method } of lease.calls) {
      if (sentAt + process.shift < span.from || sentAt + process.shift > span.to) continue
      const colour = outcome === 'answered' ? colours.held : colours.jeopardy
      parts.push(bar(shifted(sentAt), shifted(endedAt ?? sentAt) + 1, y + 24, 6, colour, `${method}: ${outcome}`))
    }
    for (const { at } of lease.losses) parts.push(bar(shifted(at), shifted(at) + 3, y, 32, colours.lost, 'lost'))
  })
  verdicts.forEach(({ at, owner, lease, finding }, place) => {
    const y = TOP + lanes.length * LANE + 18 + place * 18
    parts.push(text(8, y, `${clockText(at)} ${lease} of ${owner}: ${finding.cause}, because ${finding.because}`, 170))
  })
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 20}" height="${height}" font-family="sans-serif" ` +
    `font-size="12">${parts.join('')}</svg>\n`
  )
}

function spanOf(
  processes: readonly ProcessStory[],
  at: readonly number[],
): { readonly from: number; readonly to: number } {
  const seen = processes.flatMap(({ leases, shift }) =>
    leases.flatMap(({ events }) => [events[0], events.at(-1)].flatMap((event) => (event ? [event.wall + shift] : []))),
  )
  const points = at.length > 0 ? at : seen
  if (points.length === 0) return { from: 0, to: 1 }
  const longest = Math.max(
    0,
    ...processes.flatMap(({ leases }) => leases.map(({ rules }) => rules.ttl)).filter(Number.isFinite),
  )
  const margin = Math.max(LEAST_MARGIN, longest * 1.5)
  return { from: Math.min(...points) - margin, to: Math.max(...points) + margin / 2 }
}

function legend(): string {
  return Object.entries(colours)
    .map(([title, colour], place) => {
      const x = LEFT + WIDTH - 90 * (4 - place)
      return `<rect x="${x}" y="8" width="12" height="12" fill="${colour}"/>${text(x + 18, 18, title)}`
    })
    .join('')
}

function bar(from: number, to: number, y: number, height: number, colour: string, title: string): string {
  const width = Math.max(1, Math.round((to - from) * 10) / 10)
  return `<rect x="${from}" y="${y}" width="${width}" height="${height}" fill="${colour}"><title>${escaped(title)}</title></rect>`
}

function text(x: number, y: number, content: string, longest = 1_000, colour = '#000'): string {
  const shown = content.length > longest ? `${content.slice(0, longest - 1)}…` : content
  return `<text x="${x}" y="${y}" fill="${colour}">${escaped(shown)}</text>`
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Names are of users: without marks of XML, and without characters that XML does not allow. */
function escaped(content: string): string {
  return content
    .toWellFormed()
    .replaceAll(/[^\P{Cc}]|\uFFFE|\uFFFF/gu, '\uFFFD')
    .replaceAll(/[&<>"']/g, (mark) => escapes[mark] ?? mark)
}

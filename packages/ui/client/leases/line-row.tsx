import { Component } from 'preact'
import type { Line } from '../list/lines.js'
import { GroupCells } from './group-cells.js'
import { LeaseCells } from './lease-cells.js'

interface LineRowProps {
  readonly line: Line
  readonly index: number
  readonly height: number
  readonly isStale: boolean
  /** Changes when times must be drawn again. */
  readonly tick: number
}

/** One line of the list at its place. Scrolling draws only the lines that come into view. */
export class LineRow extends Component<LineRowProps> {
  override shouldComponentUpdate(next: LineRowProps): boolean {
    const { line, index, height, isStale, tick } = this.props
    return (
      index !== next.index ||
      height !== next.height ||
      isStale !== next.isStale ||
      tick !== next.tick ||
      !isSame(line, next.line)
    )
  }

  override render() {
    const { line, index, height, isStale } = this.props
    return (
      <tr
        role="row"
        class={line.kind === 'group' ? 'group-row' : 'lease-row'}
        data-state={line.kind === 'lease' ? line.entry.row.state : undefined}
        data-line={index}
        aria-rowindex={index + 2}
        style={{ top: `${index * height}px`, height: `${height}px` }}
      >
        {line.kind === 'group' ? <GroupCells line={line} /> : <LeaseCells entry={line.entry} isStale={isStale} />}
      </tr>
    )
  }
}

function isSame(one: Line, other: Line): boolean {
  if (one.kind === 'lease') return other.kind === 'lease' && one.entry === other.entry
  return other.kind === 'group' && one.group === other.group && one.count === other.count && one.isOpen === other.isOpen
}

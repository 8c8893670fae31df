import type { GroupView } from '../../src/protocol.js'
import { usePageOn } from '../shell/page-context.js'
import { ScrollRegion } from '../shell/scroll-region.js'
import { Card, CardsView } from './cards.js'
import { bordersOf, ownershipOf, pathOf, type Range, rangesOf, rangesText } from './partitions.js'

/** With more partitions, lines between them would hide them. */
const mostSeparate = 100

export function GroupsView() {
  const { state } = usePageOn('recipes')
  const { groups } = state.recipes
  return (
    <CardsView
      id="groups"
      title="Partition groups"
      count={groups.length}
      none="There is no partition group in this store."
    >
      {groups.map((group) => (
        <GroupCard key={group.name} group={group} />
      ))}
    </CardsView>
  )
}

/** A line for each worker, a column for each partition. */
function GroupCard({ group }: { readonly group: GroupView }) {
  const { formats } = usePageOn('status')
  const { name, partitions, members } = group
  const { unowned, doubled } = ownershipOf(group)
  const note = `${formats.number(partitions)} partitions, ${formats.number(members.length)} ${members.length === 1 ? 'worker' : 'workers'}`
  return (
    <Card name={name} note={note}>
      <ul class="grid-legend" aria-label="Signs">
        <li>
          <span class="cell-sample" data-kind="held" aria-hidden="true" /> held
        </li>
        <li>
          <span class="cell-sample" data-kind="draining" aria-hidden="true" /> draining
        </li>
        <li>
          <span class="cell-sample" data-kind="claimed" aria-hidden="true" /> claimed
        </li>
      </ul>
      <ScrollRegion kind="wide" name={`Workers and partitions of ${name}`}>
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">Worker</th>
              <th scope="col" class="numbers">
                Held
              </th>
              <th scope="col">
                <span class="unseen">Partitions</span>
                <span class="grid-axis" aria-hidden="true">
                  <span>0</span>
                  <span>{formats.number(partitions - 1)}</span>
                </span>
              </th>
            </tr>
          </thead>
          <tbody>
            {unowned.length > 0 && <PartitionRow kind="unowned" title="Nobody" partitions={unowned} of={partitions} />}
            {doubled.length > 0 && (
              <PartitionRow kind="doubled" title="More than one" partitions={doubled} of={partitions} />
            )}
            {members.map((member) => (
              <MemberRow key={member.owner} member={member} partitions={partitions} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Card>
  )
}

function PartitionRow(row: {
  readonly kind: 'unowned' | 'doubled'
  readonly title: string
  readonly partitions: readonly number[]
  readonly of: number
}) {
  const { formats } = usePageOn()
  const ranges = rangesOf(row.partitions)
  return (
    <tr class="warned-row">
      <th scope="row">{row.title}</th>
      <td class="numbers">{formats.number(row.partitions.length)}</td>
      <td>
        <Cells partitions={row.of} text={rangesText(ranges)} paths={[[row.kind, pathOf(ranges, 0, 1)]]} />
      </td>
    </tr>
  )
}

function MemberRow({
  member,
  partitions,
}: {
  readonly member: GroupView['members'][number]
  readonly partitions: number
}) {
  const { formats } = usePageOn()
  const { owner, isLeaving, metadata } = member
  const held = rangesOf(member.held)
  const draining = rangesOf(member.draining)
  const claimed = rangesOf(member.claimed)
  const facts = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`)
  return (
    <tr>
      <th scope="row" class="mono breaks" title={facts.join('\n') || undefined}>
        {owner}
        {isLeaving && <span class="kind">leaving</span>}
      </th>
      <td class="numbers">{formats.number(member.held.length)}</td>
      <td>
        <Cells
          partitions={partitions}
          text={[sayRanges('', held), sayRanges('draining ', draining), sayRanges('claims ', claimed)]
            .filter(Boolean)
            .join('; ')}
          paths={[
            ['held', pathOf(held, 0, 1)],
            ['draining', pathOf(draining, 0.5, 0.5)],
            ['claimed', pathOf(claimed, 0.8, 0.2)],
          ]}
        />
      </td>
    </tr>
  )
}

function sayRanges(before: string, ranges: readonly Range[]): string {
  return ranges.length === 0 ? '' : before + rangesText(ranges)
}

function Cells(cells: {
  readonly partitions: number
  readonly text: string
  readonly paths: readonly (readonly [kind: string, path: string])[]
}) {
  return (
    <>
      <svg class="cells" viewBox={`0 0 ${cells.partitions} 1`} preserveAspectRatio="none" aria-hidden="true">
        {cells.paths.map(([kind, path]) => path !== '' && <path key={kind} data-kind={kind} d={path} />)}
        {cells.partitions <= mostSeparate && <path class="between" d={bordersOf(cells.partitions)} />}
      </svg>
      <p class="cells-text" title={cells.text}>
        {cells.text === '' ? 'none' : cells.text}
      </p>
    </>
  )
}

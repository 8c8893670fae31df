import type { ElectionView } from '../../src/protocol.js'
import { Field } from '../shell/field.js'
import { Instant } from '../shell/instant.js'
import { usePageOn } from '../shell/page-context.js'
import { Card, CardsView } from './cards.js'

export function ElectionsView() {
  const { state } = usePageOn('recipes')
  const { elections } = state.recipes
  return (
    <CardsView id="elections" title="Elections" count={elections.length} none="There is no election in this store.">
      {elections.map((election) => (
        <ElectionCard key={election.name} election={election} />
      ))}
    </CardsView>
  )
}

function ElectionCard({ election }: { readonly election: ElectionView }) {
  const { formats } = usePageOn('status')
  const { name, leader, term, since, waiters, candidates } = election
  return (
    <Card name={name}>
      <dl class="fields">
        <Field name="Leader">
          {leader === undefined ? (
            <strong class="warned">no leader</strong>
          ) : (
            <strong class="mono breaks">{leader}</strong>
          )}
        </Field>
        {term !== undefined && (
          <Field name="Term">
            <span class="mono">{term}</span>
          </Field>
        )}
        {since !== undefined && (
          <Field name="Since">
            <Instant at={since} />
          </Field>
        )}
        {waiters !== undefined && <Field name="Waiting">{formats.number(waiters)}</Field>}
      </dl>
      {candidates.length > 0 && (
        <table class="plain-table">
          <caption>Candidates, the best first</caption>
          <thead>
            <tr>
              <th scope="col">Candidate</th>
              <th scope="col" class="numbers">
                Rank
              </th>
              <th scope="col">Ready</th>
            </tr>
          </thead>
          <tbody>
            {candidates.map(({ owner, rank, isReady }) => (
              <tr key={owner}>
                <td class="mono breaks">
                  {owner}
                  {owner === leader && <span class="kind">leads</span>}
                </td>
                <td class="numbers">{formats.number(rank)}</td>
                <td>{isReady ? 'ready' : <span class="warned">not ready</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

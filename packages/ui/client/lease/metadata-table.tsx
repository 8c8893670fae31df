/** The small map of texts that a record carries. */
export function MetadataTable(table: {
  readonly title: string
  readonly metadata: Readonly<Record<string, string>>
  readonly none: string
}) {
  const entries = Object.entries(table.metadata)
  return (
    <section class="card">
      <h3>{table.title}</h3>
      {entries.length === 0 ? (
        <p class="hint">{table.none}</p>
      ) : (
        <table class="plain-table">
          <thead class="unseen">
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {entries.map(([key, value]) => (
              <tr key={key}>
                <th scope="row" class="mono">
                  {key}
                </th>
                <td class="mono breaks">{value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

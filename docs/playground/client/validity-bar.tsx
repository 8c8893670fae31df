/** How much of a ttl is left, as a bar and as text. */
export function ValidityBar({ remaining, ttl }: { readonly remaining: number; readonly ttl: number }) {
  const part = Math.min(1, remaining / ttl)
  return (
    <span class="validity" data-low={part < 0.25 || undefined}>
      <span class="bar" aria-hidden="true">
        <span class="bar-filling" style={{ transform: `scaleX(${part})` }} />
      </span>
      <span class="validity-text">{remaining > 0 ? `${(remaining / 1_000).toFixed(1)} s` : '–'}</span>
    </span>
  )
}

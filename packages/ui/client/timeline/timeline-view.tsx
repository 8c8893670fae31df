export function TimelineView() {
  return <p>Timeline</p>
}

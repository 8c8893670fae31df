export function GroupsView() {
  return <p>Groups</p>
}

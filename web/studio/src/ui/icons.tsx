// Line icons, drawn on a grid of 24.
const PATHS = {
  explore: "M5 7a2 2 0 1 0 0-.01M19 6a2 2 0 1 0 0-.01M12 18a2.5 2.5 0 1 0 0-.01M6.8 7.8l4 8M17.8 7.8l-4.6 8.2M7 7l10-1",
  query: "M4 6l5 6-5 6M12 18h8",
  facts: "M4 6h9M4 12h13M4 18h7M18 4v4M20 10v4M16 16v4",
  time: "M12 4a8 8 0 1 0 .01 0M12 8v4.5l3 2",
  ontology: "M4 4h6v5H4zM14 15h6v5h-6zM14 4h6v5h-6zM10 6.5h4M17 9v6",
  live: "M3 12h4l2.5-7 5 14 2.5-7h4",
  admin: "M4 7h10M18 7h2M4 12h3M11 12h9M4 17h8M16 17h4M16 5v4M9 10v4M14 15v4",
  search: "M10.5 4a6.5 6.5 0 1 0 .01 0M15.5 15.5L20 20",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  arrange: "M12 4v4M12 16v4M4 12h4M16 12h4M12 10a2 2 0 1 0 .01 0M6 6l3 3M18 18l-3-3M18 6l-3 3M6 18l3-3",
  sun: "M12 8a4 4 0 1 0 .01 0M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  moon: "M20 14.5A8 8 0 1 1 9.5 4a6.5 6.5 0 0 0 10.5 10.5z",
  play: "M7 5l12 7-12 7z",
  pause: "M8 5v14M16 5v14",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  edit: "M4 20l1-4L16 5l3 3L8 19l-4 1z",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  pin: "M9 4h6l-1 6 4 4H6l4-4-1-6zM12 14v6",
  hide: "M3 3l18 18M10 6.3A9 9 0 0 1 21 12a14 14 0 0 1-2.5 3.2M6.5 8A14 14 0 0 0 3 12c2 4 5.5 6 9 6a9 9 0 0 0 4-1",
  expand: "M12 9a3 3 0 1 0 .01 0M12 3v3M12 18v3M3 12h3M18 12h3",
  out: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

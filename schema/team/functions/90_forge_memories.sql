-- The store as other programs of a company may name its columns; read by the owner, and by whom the owner lets.
CREATE VIEW forge_memories AS
    SELECT id AS "documentId", project_id AS project, source, source_ref AS "sourceRef", text, metadata, vector,
           embedded_at AS "embeddedAt"
    FROM memories;
